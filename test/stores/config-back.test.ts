import { expect } from 'chai';
import { Client } from 'pg';
import {
  type Answer,
  atEnd,
  eventually,
  fakeClock,
  forSuite,
  inSoak,
  type PostgresServer,
  startHost,
  startPostgres,
  type TestHost,
} from '../kit/index.ts';

const named = (name: string): object => ({ targets: [{ virtual_key: 'echo' }], aliases: { name } });

const nameOf = async (t: TestHost): Promise<string | undefined> =>
  ((await t.get('/admin/config')).json() as { aliases?: { name?: string } }).aliases?.name;
const etagOf = async (t: TestHost): Promise<string | null> => (await t.get('/admin/config')).headers.get('etag');
const codeOf = (answer: Answer): unknown[] => [
  answer.status,
  (answer.json() as { error: { code: string; message: string } }).error.code,
];

describe('a store of the configuration', function onPostgres() {
  this.timeout(120_000);
  const server = forSuite<PostgresServer>(startPostgres);

  /** Gateways on one database, a way to ask it, and what they all warn of. */
  async function fleet(count: number) {
    const dsn = await server().createDatabase();
    const variables = { CONFIG_STORE_BACKEND: 'postgres', CONFIG_STORE_DSN: dsn };
    const replicas: TestHost[] = [];
    for (let at = 0; at < count; at += 1) {
      const t = await startHost(named('begin'), { variables });
      t.host.stores.configuration.value.onChange?.(() => void t.host.applier.follow());
      replicas.push(t);
    }
    const client = new Client({ connectionString: dsn });
    await client.connect();
    atEnd(() => client.end());
    const put = (at: number, name: string, headers = {}): Promise<Answer> =>
      replicas[at]!.request('PUT', '/admin/config', named(name), headers);
    const allSay = async (name: string): Promise<void> => {
      await eventually(async () => (await Promise.all(replicas.map(nameOf))).every((each) => each === name), 20_000);
      expect(await Promise.all(replicas.map(nameOf))).to.deep.equal(replicas.map(() => name));
    };
    return { dsn, variables, replicas, client, put, allSay };
  }

  /** What a database looks like that was put back to the state of a version, or took over without the later ones. */
  async function putBack(client: Client, version: number): Promise<void> {
    await client.query('BEGIN');
    await client.query('DELETE FROM config_history WHERE version > $1', [version]);
    await client.query(
      'UPDATE gateway_config SET config_json = (SELECT config_json FROM config_history WHERE version = $1)',
      [version],
    );
    await client.query('COMMIT');
  }

  it('that went back is taken in by every replica, and no number names two documents', async () => {
    const { replicas, client, put, allSay } = await fleet(2);
    for (let version = 1; version <= 8; version += 1) await put(0, `state ${version}`);
    await allSay('state 8');
    await putBack(client, 3);
    await allSay('state 3');
    expect(await Promise.all(replicas.map(etagOf))).to.deep.equal(['"3"', '"3"']);
    const warnings = replicas.map((t) =>
      t.lines
        .filter(({ msg }) => msg === 'the configuration store went back')
        .map(({ level, running, stored }) => [level, running, stored]),
    );
    expect(warnings).to.deep.equal(replicas.map(() => [['WARN', 8, 3]]));
    expect(codeOf(await put(1, 'late', { 'if-match': '"8"' }))).to.deep.equal([412, 'version_conflict']);
    const written = await put(1, 'next', { 'if-match': '"3"' });
    expect([written.status, written.headers.get('etag')]).to.deep.equal([200, '"9"']);
    await allSay('next');
  });

  inSoak('that went back has the numbers that were used, whichever replica writes first', async () => {
    const { client, variables, replicas, put, allSay } = await fleet(1);
    for (let version = 1; version <= 4; version += 1) await put(0, `state ${version}`);
    await putBack(client, 2);
    await allSay('state 2');
    const newcomer = await startHost(named('begin'), { variables });
    const written = await newcomer.request('PUT', '/admin/config', named('by a newcomer'));
    expect(written.headers.get('etag')).to.equal('"5"');
    await allSay('by a newcomer');
    await putBack(client, 1);
    const early = await replicas[0]!.request('PUT', '/admin/config', named('before anyone looked'));
    expect(early.headers.get('etag')).to.equal('"6"');
  });

  it('that holds another text under the same number is taken in', async () => {
    const { client, variables, replicas, put, allSay } = await fleet(2);
    for (let version = 1; version <= 3; version += 1) await put(0, `state ${version}`);
    await allSay('state 3');
    await client.query(
      "UPDATE config_history SET config_json = replace(config_json, 'state 3', 'other') WHERE version = 3",
    );
    await client.query("UPDATE gateway_config SET config_json = replace(config_json, 'state 3', 'other')");
    await allSay('other');
    for (const t of replicas)
      expect(t.lines.filter(({ msg }) => msg === 'the configuration store went back')).to.have.length(1);
    const tags = await Promise.all(replicas.map(etagOf));
    expect(tags[0], 'the tag of the text that was lost is another one').to.match(/^"3\.[0-9a-f]{8}"$/);
    expect(tags[1]).to.equal(tags[0]);
    const tag = String(tags[0]);
    for (const old of ['"3"', '"3.00000000"', '"3", "2"'])
      expect(codeOf(await put(0, 'late', { 'if-match': old })), old).to.deep.equal([412, 'version_conflict']);
    const newcomer = await startHost(named('begin'), { variables });
    newcomer.host.stores.configuration.value.onChange?.(() => void newcomer.host.applier.follow());
    await eventually(async () => (await etagOf(newcomer)) === tag, 20_000);
    expect(await etagOf(newcomer)).to.equal(tag);
    expect((await put(1, 'next', { 'if-match': `"3", ${tag}` })).headers.get('etag')).to.equal('"4"');
    await allSay('next');
    expect(await Promise.all(replicas.map(etagOf))).to.deep.equal(['"4"', '"4"']);
  });

  it('that went back to nothing leaves what serves, and says so', async () => {
    const { client, replicas, put, allSay } = await fleet(1);
    await put(0, 'state 1');
    await client.query('TRUNCATE config_history, gateway_config');
    await eventually(async () => (await etagOf(replicas[0]!)) === '"0"');
    expect(await etagOf(replicas[0]!)).to.equal('"0"');
    await allSay('state 1');
    const written = await put(0, 'again', { 'if-match': '"0"' });
    expect([written.status, written.headers.get('etag')]).to.deep.equal([200, '"2"']);
  });

  it('keeps the newest thousand versions, of which pages show any', async () => {
    const { client, replicas, put } = await fleet(1);
    await client.query(
      `INSERT INTO config_history (version, config_json, updated_at, actor) SELECT number, '${JSON.stringify(named('old'))}', now(), 'x' FROM generate_series(1, 1500) AS number`,
    );
    await put(0, 'newest');
    const { rows } = await client.query('SELECT count(*)::int AS kept, min(version) AS oldest FROM config_history');
    expect(rows).to.deep.equal([{ kept: 1000, oldest: 502 }]);
    const page = async (query: string): Promise<any> =>
      (await replicas[0]!.get(`/admin/config/history${query}`)).json();
    const versionsOf = ({ data }: any): number[] => data.map(({ version }: any) => version);
    expect(versionsOf(await page(''))).to.deep.equal(Array.from({ length: 200 }, (_, at) => 1302 + at));
    expect(versionsOf(await page('?limit=2&before=503'))).to.deep.equal([502]);
    expect(versionsOf(await page('?limit=999')).length).to.equal(200);
    const bare = await page('?limit=1&documents=false');
    expect(Object.keys(bare.data[0])).to.deep.equal(['version', 'updated_at', 'rolled_back_from', 'actor']);
    const back = await replicas[0]!.request('POST', '/admin/config/rollback/600');
    expect([back.status, back.headers.get('etag')]).to.deep.equal([200, '"1502"']);
    expect(codeOf(await replicas[0]!.request('POST', '/admin/config/rollback/501'))).to.deep.equal([
      404,
      'resource_not_found',
    ]);
  });

  it('with keys of a newer program is served and not written, in no way of writing', async () => {
    const { client, replicas, put, allSay } = await fleet(1);
    await put(0, 'own');
    const newer = JSON.stringify({ ...named('newer'), of_tomorrow: { a: 1 } });
    const moment = new Date().toISOString();
    await client.query('INSERT INTO config_history (version, config_json, updated_at) VALUES (2, $1, $2)', [
      newer,
      moment,
    ]);
    await client.query('UPDATE gateway_config SET config_json = $1', [newer]);
    await allSay('newer');
    const [t] = replicas as [TestHost];
    const shown = (await t.get('/admin/config')).text;
    const answers = [
      await t.request('PUT', '/admin/config', shown),
      await t.request('POST', '/admin/config', named('own again')),
      await t.request('DELETE', '/admin/config'),
      await t.request('POST', '/admin/config/rollback/1'),
    ];
    for (const answer of answers) expect(codeOf(answer)).to.deep.equal([409, 'config_newer']);
    expect(answers[0]?.json().error).to.deep.equal({
      message: 'the stored configuration was written by a newer gw',
      type: 'invalid_request_error',
      code: 'config_newer',
    });
    expect(codeOf(await t.request('PUT', '/admin/config', named('late'), { 'if-match': '"1"' }))).to.deep.equal([
      412,
      'version_conflict',
    ]);
    const { rows } = await client.query('SELECT config_json FROM gateway_config');
    expect(rows).to.deep.equal([{ config_json: newer }]);
  });

  it('is followed by those that hear of a change: no time passes for them', async () => {
    const { variables, put } = await fleet(1);
    const clock = fakeClock();
    const t = await startHost(named('begin'), { variables, clock });
    t.host.stores.configuration.value.onChange?.(() => void t.host.applier.follow());
    for (let version = 1; version <= 3; version += 1) {
      await put(0, `state ${version}`);
      await eventually(async () => (await nameOf(t)) === `state ${version}`);
      expect(await nameOf(t)).to.equal(`state ${version}`);
      const again = await t.request('PUT', '/admin/config', named(`${version}`), {
        'if-match': `"${2 * version - 1}"`,
      });
      expect(again.status, 'with the tag that the other one gave').to.equal(200);
    }
  });

  it('tells listeners of every change, with its number', async () => {
    const { client, put, replicas } = await fleet(1);
    const heard: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => heard.push(payload));
    await client.query('LISTEN gw_config_changes');
    await put(0, 'one');
    await replicas[0]!.request('DELETE', '/admin/config');
    await eventually(async () => heard.length === 2);
    expect(heard).to.deep.equal(['1', '2']);
  });
});
