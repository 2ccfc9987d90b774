import { expect } from 'chai';
import type { KeyStore } from '../../host/stores/keys/key-store.ts';
import {
  ask,
  atEnd,
  chatReply,
  eventually,
  forSuite,
  type PostgresServer,
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

  it('finds new ones for unknown keys, changes, uses and the audit trail, and serves keys in use meanwhile', async () => {
    const dsn = await server().createDatabase();
    const relay = await startRelay(dsn);
    const [t, other] = [await gateway(relay.url), await gateway(dsn)];
    const { keys, audit } = t.host.stores;
    const make = (store: KeyStore, name: string): Promise<{ readonly key: string }> =>
      store.create({ name, scopes: ['read_only'] });
    const used = await make(keys, 'used');
    const unseen = await make(keys, 'unseen');
    // one connection for each purpose, all idle
    await Promise.all([statusWith(t, used.key), keys.list(), audit.list({ limit: 1, offset: 0 }), keys.flush()]);
    atEnd(() => {
      relay.mode = 'pass';
    });
    const before = relay.taken;
    relay.mode = 'silent';
    expect(await statusWith(t, used.key)).to.equal(200);
    audit.append({ action: 'key.create', actor: 'ada', outcome: 'success' });
    await succeeds(async () => expect(await statusWith(t, unseen.key)).to.equal(200));
    await Promise.all([
      succeeds(() => make(keys, 'made afterwards')),
      succeeds(() => keys.list()),
      succeeds(async () =>
        expect((await other.host.stores.audit.list({ limit: 1, offset: 0 })).total).to.be.greaterThan(0),
      ),
    ]);
    await succeeds(async () => {
      const counts = (await other.host.stores.keys.list()).map(({ name, usageCount }) => `${name} ${usageCount}`);
      expect(counts.toSorted()).to.deep.equal(['made afterwards 0', 'unseen 1', 'used 2']);
    });
    expect(await statusWith(t, used.key)).to.equal(200);
    expect(relay.taken, 'by new connections').to.be.greaterThan(before);
  });
});
