import { expect } from 'chai';
import type { KeyStore } from '../../host/stores/keys/key-store.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  forSuite,
  inSoak,
  type PostgresServer,
  type Relay,
  replyJson,
  startHost,
  startPostgres,
  startRelay,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

/** Longer than the promise (docs/stores.md#limits) by what a busy machine takes. */
const BOUND_MS = 25_000;

async function gateway(dsn: string): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  return startHost(
    { targets: [stub.target('a')] },
    { variables: { API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn } },
  );
}

const statusWith = async (t: TestHost, key: string): Promise<number> =>
  (await t.post('/v1/chat/completions', ask(), { authorization: `Bearer ${key}` })).status;

const make = (keys: KeyStore, name: string): Promise<{ readonly key: string }> =>
  keys.create({ name, scopes: ['read_only'] });

/** Tries again until it succeeds. */
async function succeeds<T>(work: () => Promise<T>): Promise<T> {
  let answer: { readonly value: T } | undefined;
  let failure: unknown;
  await eventually(async () => {
    answer = await work().then(
      (value) => ({ value }),
      (error: unknown) => void (failure = error),
    );
    return answer !== undefined;
  }, BOUND_MS);
  if (!answer) throw failure;
  return answer.value;
}

describe('a gateway whose connections to Postgres all die in silence', function onPostgres() {
  this.timeout(60_000);
  const server = forSuite<PostgresServer>(startPostgres);

  async function begun(): Promise<{ t: TestHost; other: TestHost; relay: Relay; unseen: string; used: string }> {
    const dsn = await server().createDatabase();
    const relay = await startRelay(dsn);
    const [t, other] = [await gateway(relay.url), await gateway(dsn)];
    const { keys, audit } = t.host.stores;
    const { key: used } = await make(keys, 'used');
    const { key: unseen } = await make(keys, 'unseen');
    // one connection for each purpose, all idle
    await Promise.all([statusWith(t, used), keys.page({}, 10), audit.list({ limit: 1, offset: 0 }), keys.flush()]);
    relay.mode = 'silent';
    atEnd(() => {
      relay.mode = 'pass';
    });
    return { t, other, relay, unseen, used };
  }

  it('finds new ones for unknown keys, then for changes, and serves keys in use meanwhile', async () => {
    const { t, unseen, used } = await begun();
    expect(await statusWith(t, used)).to.equal(200);
    await succeeds(async () => expect(await statusWith(t, unseen)).to.equal(200));
    await succeeds(() => make(t.host.stores.keys, 'made afterwards'));
    expect(await statusWith(t, used)).to.equal(200);
  });

  inSoak('finds new ones for everything at once: also for uses and the audit trail', async () => {
    const { t, other, unseen, used } = await begun();
    const { keys, audit } = t.host.stores;
    expect(await statusWith(t, used)).to.equal(200);
    audit.append({ action: 'key.create', actor: 'ada', outcome: 'error' });
    await Promise.all([
      succeeds(async () => expect(await statusWith(t, unseen)).to.equal(200)),
      succeeds(() => make(keys, 'made afterwards')),
      succeeds(() => keys.page({}, 10)),
      succeeds(async () =>
        expect((await other.host.stores.audit.list({ limit: 1, offset: 0 })).total).to.be.greaterThan(0),
      ),
    ]);
    await succeeds(async () => {
      const counts = (await other.host.stores.keys.page({}, 10)).keys.map(
        ({ name, usageCount }) => `${name} ${usageCount}`,
      );
      expect(counts.toSorted()).to.deep.equal(['made afterwards 0', 'unseen 1', 'used 2']);
    });
  });
});
