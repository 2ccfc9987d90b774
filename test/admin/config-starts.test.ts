import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  forSuite,
  type GatewayProcess,
  inSoak,
  isSoak,
  runGw,
  some,
  startGateway,
  startHost,
  startPostgres,
  temporaryFolder,
} from '../kit/index.ts';
import { runCommand } from '../cli/commands.ts';

interface Gateway {
  readonly gateway: GatewayProcess;
  readonly call: (
    method: string,
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ) => Promise<{ status: number; etag: string | null; body: any }>;
}

interface Place {
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
}

async function start({ cwd, variables }: Place, more: Readonly<Record<string, string>> = {}): Promise<Gateway> {
  const gateway = await startGateway({ cwd, variables: { ...variables, ...more } });
  return {
    gateway,
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${gateway.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${gateway.key}`, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: response.status, etag: response.headers.get('etag'), body: await response.json() };
    },
  };
}

const named = (name: string): object => ({ targets: [{ virtual_key: 'echo' }], aliases: { name } });
const nameOf = async ({ call }: Gateway): Promise<string | undefined> =>
  (await call('GET', '/admin/config')).body.aliases?.name;
const sourceOf = ({ gateway: { lines } }: Gateway): Record<string, any> | undefined =>
  lines.find(({ msg }) => msg === 'active config resolved');
const until = async (isSo: () => Promise<boolean> | boolean): Promise<void> => {
  while (!(await isSo()))
    await new Promise((resolve) => {
      setTimeout(resolve, 20);
    });
};

function suite(place: () => Promise<Place>): void {
  it('counts before the file and the default at a start, with its history, until it is dropped', async () => {
    const at = await place();
    const first = await start(at);
    expect([sourceOf(first)?.['source'], (await first.call('GET', '/admin/config')).etag]).to.deep.equal([
      'defaults',
      '"0"',
    ]);
    expect((await first.call('GET', '/admin/config/history')).body.data).to.deep.equal([]);
    await first.call('PUT', '/admin/config', { ...named('one'), strategy: {} });
    await first.call('PUT', '/admin/config', named('two'));
    await first.gateway.stop();

    await writeFile(
      join(at.cwd, 'config.yaml'),
      'targets: [{virtual_key: echo}, {virtual_key: openai}]\naliases: {name: file}\nstrategy: {mode: fallback}\nplugins: [{name: word-filter, stage: before_request, enabled: true}]\n',
    );
    const second = await start(at);
    expect(sourceOf(second)).to.include({ source: 'store', strategy: 'single', targets: 1, plugins: 0 });
    expect(second.gateway.lines.find(({ rule }) => rule === 'WN04')).to.include({
      level: 'WARN',
      file_strategy: 'fallback',
      file_targets: 2,
      file_plugins: 1,
      store_strategy: 'single',
      store_targets: 1,
      store_plugins: 0,
      plugins_not_running: 'word-filter (before_request)',
    });
    expect([await nameOf(second), (await second.call('GET', '/admin/config')).etag]).to.deep.equal(['two', '"2"']);
    expect((await second.call('GET', '/admin/config')).body.strategy, 'as it was sent').to.deep.equal({ mode: '' });
    const back = await second.call('POST', '/admin/config/rollback/1');
    expect(back).to.deep.include({
      status: 200,
      body: { status: 'rolled_back', rolled_back_to: 1, current_history_size: 3 },
    });
    expect(await nameOf(second)).to.equal('one');
    const dropped = await second.call('DELETE', '/admin/config');
    expect([dropped.status, dropped.body, dropped.etag, await nameOf(second)]).to.deep.equal([
      200,
      { status: 'deleted' },
      '"4"',
      'file',
    ]);
    await second.gateway.stop();

    const third = await start(at);
    expect([
      sourceOf(third)?.['source'],
      await nameOf(third),
      (await third.call('GET', '/admin/config')).etag,
    ]).to.deep.equal(['file', 'file', '"4"']);
    const { data } = (await third.call('GET', '/admin/config/history')).body;
    expect(
      data.map(({ version, rolled_back_from: from, config }: any) => [version, from, config.aliases.name]),
    ).to.deep.equal([
      [1, null, 'one'],
      [2, null, 'two'],
      [3, 2, 'one'],
      [4, null, 'file'],
    ]);
    await third.call('PUT', '/admin/config', named('five'));
    expect((await third.call('GET', '/admin/config')).etag).to.equal('"5"');
  });

  inSoak('wins over a file that is broken, which is logged; a reset to it is refused', async () => {
    const at = await place();
    const first = await start(at);
    await first.call('PUT', '/admin/config', named('stored'));
    await first.gateway.stop();
    await writeFile(join(at.cwd, 'config.yaml'), 'targetz: [\n');
    const second = await start(at);
    expect(await nameOf(second)).to.equal('stored');
    expect(second.gateway.lines.find(({ rule }) => rule === 'WN04')?.['problems']).to.include('DC03');
    const reset = await second.call('DELETE', '/admin/config');
    expect([reset.status, reset.body.error.code, await nameOf(second)]).to.deep.equal([
      400,
      'invalid_config',
      'stored',
    ]);
    await second.gateway.stop();
  });
}

describe('a stored configuration on SQLite', () => {
  const sqlite = async (): Promise<Place> => {
    const cwd = await temporaryFolder();
    return { cwd, variables: { CONFIG_STORE_BACKEND: ' SQLite ', CONFIG_STORE_DSN: join(cwd, 'kept.db') } };
  };
  suite(sqlite);

  inSoak('is left alone by the watched file, which counts again once nothing is stored', async () => {
    const at = await sqlite();
    const write = (name: string): Promise<void> => writeFile(join(at.cwd, 'config.json'), JSON.stringify(named(name)));
    await write('begin');
    const t = await start(at, { GW_CONFIG_WATCH: 'true' });
    await write('edited');
    await until(async () => (await nameOf(t)) === 'edited');
    const [first] = (await t.call('GET', '/admin/config/history')).body.data;
    expect(first).to.deep.include({ version: 1, actor: 'file', rolled_back_from: null });
    expect((await t.call('GET', '/admin/audit?action=config.update')).body.data[0]).to.include({
      actor: 'file',
      outcome: 'ok',
      target_id: '*',
      detail: '{"plugins":0,"strategy":"single","targets":1}',
    });
    await write('once more');
    await until(async () => (await nameOf(t)) === 'once more'); // a change by the file stores nothing
    await t.call('PUT', '/admin/config', named('stored'));
    await write('without effect');
    await until(() => t.gateway.lines.some(({ msg }) => String(msg).startsWith('the config file has changed, and')));
    expect(await nameOf(t)).to.equal('stored');
    await t.call('DELETE', '/admin/config');
    expect(await nameOf(t), 'what the start began with').to.equal('begin');
    await write('last');
    await until(async () => (await nameOf(t)) === 'last');
    expect((await t.call('GET', '/admin/config')).etag).to.equal('"5"');
  });

  it('may hold keys of another version, which are ignored; what does not hold stops the start', async () => {
    const at = await sqlite();
    const first = await start(at);
    await first.call('PUT', '/admin/config', named('stored'));
    await first.gateway.stop();
    const { openSqlite } = await import('../../builtins/stores/database/sqlite.ts');
    const edit = async (text: string): Promise<void> => {
      const database = await openSqlite(join(at.cwd, 'kept.db'), at.cwd);
      await database.knex('gateway_config').update({ config_json: text });
      await database.close();
    };
    await edit(
      JSON.stringify({ ...named('later'), of_tomorrow: { a: 1 }, targets: [{ virtual_key: 'echo', new_key: 5 }] }),
    );
    const second = await start(at);
    expect(await nameOf(second)).to.equal('later');
    expect((await second.call('GET', '/admin/config')).body).not.to.have.property('of_tomorrow');
    await second.gateway.stop();
    await edit(JSON.stringify({ targets: [{ virtual_key: 'unknown' }], max_request_bytes: -1 }));
    const { code, stderr } = await runGw(['serve'], { cwd: at.cwd, variables: { PORT: '0', ...at.variables } });
    expect(code).to.equal(1);
    expect(stderr).to.include('BV01').and.include('CV34');
  });

  inSoak('warns of a literal that is not shown, and not of references', async () => {
    const t = await start(await sqlite());
    const server = (value: string): object => ({
      ...named('x'),
      mcp_servers: [{ name: 'a', url: 'http://a', headers: { 'X-Planted': value } }],
    });
    await t.call('PUT', '/admin/config', server('${TOKEN}'));
    expect(t.gateway.lines.filter(({ rule }) => rule === 'WN11')).to.deep.equal([]);
    await t.call('PUT', '/admin/config', server('planted-secret'));
    await until(() => t.gateway.lines.some(({ rule }) => rule === 'WN11'));
    expect(t.gateway.lines.find(({ rule }) => rule === 'WN11')).to.include({
      level: 'WARN',
      field: 'mcp_servers[0].headers',
    });
    expect(JSON.stringify(t.gateway.lines)).not.to.include('planted-secret');
    expect(await t.gateway.stop()).to.equal(0); // the tool server is tried again for as long as it runs
  });

  for (const [title, variables, says] of some(
    [
      ['an unknown backend', { CONFIG_STORE_BACKEND: 'mysql' }, 'CONFIG_STORE_BACKEND'],
      ['a Postgres without an address', { CONFIG_STORE_BACKEND: 'postgresql' }, 'CONFIG_STORE_DSN'],
      [
        'a folder that is not there',
        { CONFIG_STORE_BACKEND: 'sqlite', CONFIG_STORE_DSN: '/nowhere/at/all.db' },
        'CONFIG_STORE_DSN',
      ],
      [
        'a Postgres that is not there',
        { CONFIG_STORE_BACKEND: 'postgres', CONFIG_STORE_DSN: 'postgres://u:planted@127.0.0.1:9/x' },
        'CONFIG_STORE_DSN',
      ],
    ] as const,
    { every: 2, from: 1 },
  )) {
    it(`does not start with ${title}`, async () => {
      const { code, stderr, stdout } = await runCommand(['serve'], { variables: { PORT: '0', ...variables } });
      expect(code).to.equal(1);
      expect(stderr).to.include(says);
      expect(stdout + stderr).not.to.include('planted');
    });
  }
});

describe('a stored configuration on Postgres', function onPostgres() {
  this.timeout(120_000);
  const server = forSuite(startPostgres);
  const place = async (): Promise<Place> => ({
    cwd: await temporaryFolder(),
    variables: { CONFIG_STORE_BACKEND: 'postgres', CONFIG_STORE_DSN: await server().createDatabase() },
  });
  if (isSoak()) suite(place);

  it('is followed by every replica, a reset too', async () => {
    const at = await place();
    const [here, there] = [await start(at), await start(at)];
    await here.call('PUT', '/admin/config', named('one'));
    await until(async () => (await nameOf(there)) === 'one');
    expect((await there.call('GET', '/admin/config')).etag).to.equal('"1"');
    expect((await there.call('PUT', '/admin/config', named('two'), { 'if-match': '"1"' })).status).to.equal(200);
    await until(async () => (await nameOf(here)) === 'two');
    await there.call('DELETE', '/admin/config');
    await until(async () => (await nameOf(here)) === undefined);
    expect((await here.call('GET', '/admin/config/history')).body).to.deep.equal(
      (await there.call('GET', '/admin/config/history')).body,
    );
    const followed = (): unknown[] =>
      here.gateway.lines
        .filter(({ msg }) => msg === 'the configuration of another process is in force')
        .map(({ version }) => version);
    await until(() => followed().length === 2);
    expect(followed()).to.deep.equal([2, 3]);
  });

  inSoak('lets one of two operators through, whichever replica they ask', async () => {
    const at = await place();
    const [here, there] = [await startHost(named('begin'), at), await startHost(named('begin'), at)];
    for (let version = 0; version < 6; version += 1) {
      const answers = await Promise.all(
        [here, there].map((replica, index) =>
          replica.request('PUT', '/admin/config', named(`${version} ${index}`), { 'if-match': `"${version}"` }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 412]);
    }
  });

  inSoak('counts versions without a gap while replicas race, and all end with the newest', async () => {
    const at = await place();
    const replicas = [await start(at), await start(at)];
    const work = replicas.flatMap((replica, index) =>
      Array.from({ length: 8 }, (_, turn) =>
        turn % 4 === 3
          ? replica.call('POST', '/admin/config/rollback/1').then(({ status }) => {
              expect([200, 404]).to.include(status);
              return status;
            })
          : replica.call('PUT', '/admin/config', named(`${index} ${turn}`)).then(({ status }) => status),
      ),
    );
    const applied = (await Promise.all(work)).filter((status) => status === 200).length;
    const [here, there] = replicas as [Gateway, Gateway];
    const { data } = (await here.call('GET', '/admin/config/history')).body;
    expect(data.map(({ version }: any) => version)).to.deep.equal(
      Array.from({ length: applied }, (_, index) => index + 1),
    );
    for (const { version, rolled_back_from: from } of data) if (from !== null) expect(from).to.equal(version - 1);
    const newest = data.at(-1).config.aliases.name;
    for (const replica of [here, there]) await until(async () => (await nameOf(replica)) === newest);
  });
});
