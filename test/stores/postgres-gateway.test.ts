import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { rowsOf } from '../../builtins/stores/database/database.ts';
import { STALE_MS } from '../../builtins/stores/database/listen.ts';
import type { Clock } from '../../host/common/clock.ts';
import type { KeyStore } from '../../host/stores/keys/key-store.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  fakeClock,
  forSuite,
  type PostgresServer,
  replyJson,
  startHost,
  startOwnPostgres,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { allKeys } from './backends.ts';

const CHAT = '/v1/chat/completions';

async function replica(dsn: string, clock?: Clock): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost(
    { targets: [stub.target('a')] },
    { variables: { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn }, ...(clock && { clock }) },
  );
}

const statusWith = async (t: TestHost, key: string): Promise<number> =>
  (await t.post(CHAT, ask(), { authorization: `Bearer ${key}` })).status;

/** How long it takes until something is so, in milliseconds; it fails after `limit`. */
async function soon(limit: number, isSo: () => Promise<boolean>): Promise<number> {
  const begun = performance.now();
  while (!(await isSo())) {
    if (performance.now() - begun > limit) throw new Error(`not within ${limit} ms`);
    await sleep(20);
  }
  return performance.now() - begun;
}

describe('gateways on one Postgres', function onPostgres() {
  this.timeout(120_000);
  const server = forSuite<PostgresServer>(startOwnPostgres);

  it("know each other's keys, their changes and their ends", async () => {
    const dsn = await server().createDatabase();
    const [one, two] = await Promise.all([replica(dsn), replica(dsn)]); // both migrate the empty database
    const { key, record } = await one.host.stores.keys.create({ name: 'shared', scopes: ['read_only'] });
    expect([await statusWith(two, key), await statusWith(one, key)]).to.deep.equal([200, 200]);
    const { token } = await two.host.stores.sessions.create({
      credentialId: record.id,
      subject: 'shared',
      scopes: ['read_only'],
    });
    expect([await statusWith(one, token), await statusWith(two, token)]).to.deep.equal([200, 200]);
    await one.host.stores.keys.revoke(record.id, 'another');
    expect(await statusWith(one, key)).to.equal(401);
    await soon(5000, async () => (await statusWith(two, key)) === 401 && (await statusWith(two, token)) === 401);
  });

  /** What ends a key, and what is seen of it then. */
  const ENDS: readonly (readonly [string, (keys: KeyStore, id: string) => Promise<unknown>])[] = [
    ['revoked', (keys, id) => keys.revoke(id, 'another')],
    ['deleted', (keys, id) => keys.delete(id, 'another')],
    ['rotated', (keys, id) => keys.rotate(id)],
    ['expired by a change', (keys, id) => keys.update(id, { expiresAt: 1 }, 'another')],
    ['kept from the model by a change', (keys, id) => keys.update(id, { limits: { models: ['another'] } }, 'another')],
  ];
  const ENDED = [401, 401, 401, 401, 404];

  async function changed(
    one: TestHost,
    two: TestHost,
  ): Promise<{ readonly statuses: () => Promise<readonly number[]>; readonly end: () => Promise<unknown> }> {
    const made = await Promise.all(ENDS.map(([name]) => one.host.stores.keys.create({ name, scopes: ['read_only'] })));
    const statuses = (): Promise<readonly number[]> => Promise.all(made.map(({ key }) => statusWith(two, key)));
    expect(await statuses(), 'keys that the other has made').to.deep.equal(ENDS.map(() => 200));
    return {
      statuses,
      end: () => Promise.all(ENDS.map(([, end], at) => end(one.host.stores.keys, made[at]!.record.id))),
    };
  }

  it("hear of each other's changes: no time passes for the one that hears of it", async () => {
    const dsn = await server().createDatabase();
    const [one, two] = [await replica(dsn), await replica(dsn, fakeClock())];
    const { statuses, end } = await changed(one, two);
    await end();
    await eventually(async () => isDeepStrictEqual(await statuses(), ENDED));
  });

  it('ask again after five seconds where they cannot hear, and hear again once they can', async () => {
    const dsn = await server().createDatabase();
    const clock = fakeClock();
    const [one, two] = [await replica(dsn), await replica(dsn, clock)];
    const { statuses, end } = await changed(one, two);
    const database = await openPostgres(dsn);
    atEnd(() => database.close());
    const listeners = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    await database.knex.raw(`SELECT pg_terminate_backend(pid) ${listeners}`);
    await eventually(async () => rowsOf(await database.knex.raw(`SELECT pid ${listeners}`)).length === 0);
    await end();
    expect(await statuses(), 'what is in memory counts for five seconds').to.deep.equal(ENDS.map(() => 200));
    clock.advance(STALE_MS);
    await eventually(async () => isDeepStrictEqual(await statuses(), ENDED));
    await eventually(async () => rowsOf(await database.knex.raw(`SELECT pid ${listeners}`)).length > 0);
    const later = await changed(one, two);
    await later.end();
    await eventually(async () => isDeepStrictEqual(await later.statuses(), ENDED));
  });

  it('lose no admin key to a race', async () => {
    const dsn = await server().createDatabase();
    const replicas = await Promise.all([replica(dsn), replica(dsn)]);
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, at) =>
        replicas[at % 2]!.host.stores.keys.create({ name: `admin ${at}`, scopes: ['admin'] }),
      ),
    );
    const ends = await Promise.allSettled(
      made.map(({ record: { id } }, at) => {
        const { keys } = replicas[(at + 1) % 2]!.host.stores;
        if (at % 3 === 0) return keys.delete(id, 'another');
        return at % 3 === 1 ? keys.revoke(id, 'another') : keys.update(id, { scopes: ['read_only'] }, 'another');
      }),
    );
    const refused = ends.flatMap((end) => (end.status === 'rejected' ? [(end.reason as { code: unknown }).code] : []));
    expect(refused).to.deep.equal(['last_admin_key']);
    const left = (await allKeys(replicas[0].host.stores.keys)).filter(
      ({ active, scopes }) => active && scopes.includes('admin'),
    );
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
    const own = server();
    const t = await replica(await own.createDatabase());
    const { keys, sessions, audit } = t.host.stores;
    const [used, unused] = [
      await keys.create({ name: 'used', scopes: ['admin'] }),
      await keys.create({ name: 'unused', scopes: ['admin'] }),
    ];
    const { token } = await sessions.create({ credentialId: used.record.id, subject: 'used', scopes: ['admin'] });
    expect([await statusWith(t, used.key), await statusWith(t, token)]).to.deep.equal([200, 200]);
    expect((await t.get('/readyz')).status).to.equal(200);
    await own.stop();
    expect([await statusWith(t, used.key), await statusWith(t, used.key), await statusWith(t, token)]).to.deep.equal([
      200, 200, 200,
    ]);
    const refused = await t.post(CHAT, ask(), { authorization: `Bearer ${unused.key}` });
    expect([refused.status, refused.json().error.type, refused.json().error.code]).to.deep.equal([
      503,
      'server_error',
      'store_unavailable',
    ]);
    expect(refused.text).not.to.match(/ECONN|127\.0\.0\.1|select/i);
    expect(await statusWith(t, 'gw_unknown')).to.equal(503);
    expect((await t.post(CHAT, ask())).status).to.equal(200); // the master key needs no store
    const failed = [
      keys.revoke(used.record.id, 'x'),
      keys.create({ name: 'n', scopes: [] }),
      allKeys(keys),
      sessions.deleteAll(),
      keys.delete('gone', 'x'),
    ];
    for (const end of await Promise.allSettled<unknown>(failed))
      expect(end.status === 'rejected' && end.reason).to.be.instanceOf(StoreUnavailable);
    expect(keys.link.isAway).to.equal(true);
    expect((await t.get('/readyz')).status).to.equal(200);
    audit.append({ action: 'key.create', actor: 'ada', outcome: 'error' });
    await own.start();
    await soon(10_000, async () => (await statusWith(t, unused.key)) === 200);
    await soon(10_000, async () => (await audit.list({ limit: 10, offset: 0 })).total === 1);
    expect((await allKeys(keys)).map(({ name, active }) => `${name} ${active}`).toSorted()).to.deep.equal([
      'unused true',
      'used true',
    ]);
    await soon(10_000, async () => (await keys.get(used.record.id))?.usageCount === 3);
    expect(t.lines.filter(({ msg, level }) => level === 'ERROR' && /key store/.test(msg)).length).to.be.lessThan(4);
  });
});
