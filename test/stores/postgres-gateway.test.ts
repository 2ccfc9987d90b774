import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import { ask, chatReply, forSuite, type PostgresServer, replyJson, startHost, startOwnPostgres, stubUpstream, type TestHost } from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

async function replica(dsn: string): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost({ targets: [stub.target('a')] }, { variables: { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn } });
}

const statusWith = async (t: TestHost, key: string): Promise<number> => (await t.post(CHAT, ask(), { authorization: `Bearer ${key}` })).status;

/** How long it takes until something is so, in milliseconds; it fails after `limit`. */
async function soon(limit: number, isSo: () => Promise<boolean>): Promise<number> {
  const begun = performance.now();
  while (!await isSo()) {
    if (performance.now() - begun > limit) throw new Error(`not within ${limit} ms`);
    await sleep(20);
  }
  return performance.now() - begun;
}

describe('gateways on one Postgres', function onPostgres() {
  this.timeout(120_000);
  const server = forSuite<PostgresServer>(startOwnPostgres);

  it('know each other\'s keys, their changes and their ends', async () => {
    const dsn = await server().createDatabase();
    const [one, two] = await Promise.all([replica(dsn), replica(dsn)]); // both migrate the empty database
    const { key, record } = await one.host.stores.keys.create({ name: 'shared', scopes: ['read_only'] });
    expect([await statusWith(two, key), await statusWith(one, key)]).to.deep.equal([200, 200]);
    const { token } = await two.host.stores.sessions.create({ credentialId: record.id, subject: 'shared', scopes: ['read_only'] });
    expect([await statusWith(one, token), await statusWith(two, token)]).to.deep.equal([200, 200]);
    await one.host.stores.keys.revoke(record.id, 'another');
    expect(await statusWith(one, key)).to.equal(401);
    await soon(5000, async () => await statusWith(two, key) === 401 && await statusWith(two, token) === 401);
  });

  it('lose no admin key to a race', async () => {
    const dsn = await server().createDatabase();
    const replicas = await Promise.all([replica(dsn), replica(dsn)]);
    const made = await Promise.all(Array.from({ length: 6 }, (_, at) => replicas[at % 2]!.host.stores.keys.create({ name: `admin ${at}`, scopes: ['admin'] })));
    const ends = await Promise.allSettled(made.map(({ record: { id } }, at) => {
      const { keys } = replicas[(at + 1) % 2]!.host.stores;
      if (at % 3 === 0) return keys.delete(id, 'another');
      return at % 3 === 1 ? keys.revoke(id, 'another') : keys.update(id, { scopes: ['read_only'] }, 'another');
    }));
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as { code: unknown }).code] : []));
    expect(refused).to.deep.equal(['last_admin_key']);
    const left = (await replicas[0].host.stores.keys.list()).filter(({ active, scopes }) => active && scopes.includes('admin'));
    expect(left).to.have.length(1);
  });

  it('count every use, also those of the other', async () => {
    const dsn = await server().createDatabase();
    const replicas = await Promise.all([replica(dsn), replica(dsn)]);
    const { key, record } = await replicas[0].host.stores.keys.create({ name: 'used', scopes: ['read_only'] });
    await Promise.all(Array.from({ length: 20 }, (_, at) => statusWith(replicas[at % 2]!, key)));
    await replicas[1].close();
    expect(await replicas[0].host.stores.keys.get(record.id)).to.deep.include({ usageCount: 20 });
  });

  it('serve the keys in use while it is away, and no other', async () => {
    const own = await startOwnPostgres();
    const t = await replica(await own.createDatabase());
    const { keys, sessions, audit } = t.host.stores;
    const [used, unused] = [await keys.create({ name: 'used', scopes: ['admin'] }), await keys.create({ name: 'unused', scopes: ['admin'] })];
    const { token } = await sessions.create({ credentialId: used.record.id, subject: 'used', scopes: ['admin'] });
    expect([await statusWith(t, used.key), await statusWith(t, token)]).to.deep.equal([200, 200]);
    expect((await t.get('/readyz')).status).to.equal(200);
    await own.stop();
    expect([await statusWith(t, used.key), await statusWith(t, used.key), await statusWith(t, token)]).to.deep.equal([200, 200, 200]);
    const refused = await t.post(CHAT, ask(), { authorization: `Bearer ${unused.key}` });
    expect([refused.status, refused.json().error.type, refused.json().error.code]).to.deep.equal([503, 'server_error', 'store_unavailable']);
    expect(refused.text).not.to.match(/ECONN|127\.0\.0\.1|select/i);
    expect(await statusWith(t, 'gw_unknown')).to.equal(503);
    expect((await t.post(CHAT, ask())).status).to.equal(200); // the master key needs no store
    const failed = [keys.revoke(used.record.id, 'x'), keys.create({ name: 'n', scopes: [] }), keys.list(), sessions.deleteAll(), keys.delete('gone', 'x')];
    for (const end of await Promise.allSettled<unknown>(failed)) expect(end.status === 'rejected' && end.reason).to.be.instanceOf(StoreUnavailable);
    expect(keys.link.isAway).to.equal(true);
    expect((await t.get('/readyz')).status).to.equal(200);
    audit.append({ action: 'key.create', actor: 'ada', outcome: 'error' });
    await own.start();
    await soon(10_000, async () => await statusWith(t, unused.key) === 200);
    await soon(10_000, async () => (await audit.list({ limit: 10, offset: 0 })).total === 1);
    expect((await keys.list()).map(({ name, active }) => `${name} ${active}`).toSorted()).to.deep.equal(['unused true', 'used true']);
    await soon(10_000, async () => (await keys.get(used.record.id))?.usageCount === 3);
    expect(t.lines.filter(({ msg, level }) => level === 'ERROR' && /key store/.test(msg)).length).to.be.lessThan(4);
  });
});
