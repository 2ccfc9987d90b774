import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Client } from 'pg';
import { ChangeInDoubt } from '../../host/stores/changes.ts';
import type { Stores } from '../../host/stores/stores.ts';
import { digestOf } from '../../host/stores/principals.ts';
import { StoreUnavailable } from '../../host/stores/store-link.ts';
import {
  atEnd,
  cases,
  chatReply,
  Dice,
  eventually,
  forSuite,
  inSoak,
  type PostgresServer,
  type Relay,
  replyJson,
  startHost,
  startOwnPostgres,
  startRelay,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

/** A gateway with all its stores at one address. */
async function gateway(dsn: string): Promise<TestHost> {
  const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
  const stores = ['API_KEY_STORE', 'REQUEST_LOG_STORE'].flatMap((name) => [
    [`${name}_BACKEND`, 'postgres'] as const,
    [`${name}_DSN`, dsn] as const,
  ]);
  return startHost({ targets: [stub.target('a')] }, { variables: Object.fromEntries(stores) });
}

interface Scene {
  readonly relay: Relay;
  readonly t: TestHost;
  readonly stores: Stores;
  /** Past the relay. */
  readonly client: Client;
  readonly dsn: string;
}

/** What is written behind, by the text of its statement. */
const WRITES = {
  ledger: 'ledger_accounts USING given',
  uses: 'UPDATE api_keys SET usage_count',
  audit: 'INSERT INTO audit_log',
  log: 'INSERT INTO request_logs',
} as const;

const numberOf = async (client: Client, sql: string): Promise<number> =>
  Number(((await client.query(`SELECT (${sql}) AS number`)).rows as { number: unknown }[])[0]?.number);

/** How much of each kind stands there. */
const counted = async (client: Client): Promise<Record<keyof typeof WRITES, number>> => ({
  ledger: await numberOf(client, 'SELECT coalesce(sum(committed), 0) FROM ledger_accounts'),
  uses: await numberOf(client, 'SELECT sum(usage_count) FROM api_keys'),
  audit: await numberOf(client, "SELECT count(*) FROM audit_log WHERE action = 'test'"),
  log: await numberOf(client, 'SELECT count(*) FROM request_logs'),
});

/** One more of each kind. */
function write({ t, stores }: Pick<Scene, 't' | 'stores'>, digest: string): void {
  void stores.ledgers.value.open('l', { maxKeys: 0 }).commit('k', 1);
  expect(stores.keys.find(digest)).not.to.equal(undefined);
  stores.audit.append({ action: 'test', actor: 'ada', outcome: 'ok' });
  t.host.stores.requestLog.value?.append({ trace_id: 't', stage: 'after_request', model: 'm', created_at: 1 });
}

describe('a gateway on Postgres whose connections are lost', function onPostgres() {
  this.timeout(180_000);
  const server = forSuite<PostgresServer>(startOwnPostgres);

  async function scene(): Promise<Scene> {
    const dsn = await server().createDatabase();
    const relay = await startRelay(dsn);
    const t = await gateway(relay.url);
    const client = new Client({ connectionString: dsn });
    await client.connect();
    atEnd(() => client.end());
    return { relay, t, stores: t.host.stores, client, dsn };
  }

  it('writes what it writes behind once each, whether the statement arrived or not', async () => {
    const { relay, t, stores, client } = await scene();
    const dice = new Dice(4);
    const { key } = await stores.keys.create({ name: 'k', scopes: [] });
    await stores.keys.ask(digestOf(key));
    const cuts = { ledger: 0, uses: 0, audit: 0, log: 0 };
    let written = 0;
    for (let round = 0; round < 4 * cases(10); round += 1) {
      const kinds = Object.keys(WRITES) as (keyof typeof WRITES)[];
      const kind = kinds[round % kinds.length]!;
      const happened = relay.after(WRITES[kind], { then: 'cut', arrives: dice.below(3) > 0 });
      for (let left = 1 + dice.below(3); left > 0; left -= 1) {
        write({ t, stores }, digestOf(key));
        written += 1;
      }
      await happened;
      cuts[kind] += 1;
    }
    const all = { ledger: written, uses: written + 1, audit: written, log: written };
    await eventually(async () => JSON.stringify(await counted(client)) === JSON.stringify(all), 30_000);
    expect(await counted(client)).to.deep.equal(all);
    expect(Object.values(cuts).every((count) => count > 0)).to.equal(true);
  });

  it('answers a change as done where it is, and as not done where it is not', async () => {
    const { relay, stores, client } = await scene();
    const dice = new Dice(11);
    const ends = { done: 0, refused: 0 };
    const made = await stores.keys.create({ name: 'first', scopes: [] });
    const { id } = made.record;
    let value = made.key;
    const expected = { name: 'first', keys: 1 };
    const tried = async <T>(work: Promise<T>): Promise<T | undefined> => {
      const end = await work.catch((error: unknown) => error);
      if (end instanceof StoreUnavailable) {
        expect(end).not.to.be.instanceOf(ChangeInDoubt); // the server can be asked
        ends.refused += 1;
        return undefined;
      }
      if (end instanceof Error) throw end;
      ends.done += 1;
      return end as T;
    };
    for (let round = 0; round < cases(300); round += 1) {
      const happened = relay.after(dice.below(5) === 0 ? 'pg_advisory_xact_lock' : 'COMMIT', {
        then: 'cut',
        arrives: dice.below(2) === 0,
      });
      const choice = dice.below(4);
      if (choice === 0) {
        if (await tried(stores.keys.update(id, { name: `n${round}` }, 'x'))) expected.name = `n${round}`;
      } else if (choice === 1) value = (await tried(stores.keys.rotate(id)))?.key ?? value;
      else if (choice === 2) expected.keys += (await tried(stores.keys.create({ name: 'k', scopes: [] }))) ? 1 : 0;
      else await tried(stores.sessions.deleteAll()).catch(() => {});
      await happened;
      const { rows } = await client.query('SELECT name, key_hash FROM api_keys WHERE id = $1', [id]);
      expect(rows).to.deep.equal([{ name: expected.name, key_hash: digestOf(value) }]);
      expect(await numberOf(client, 'SELECT count(*) FROM api_keys')).to.equal(expected.keys);
    }
    expect(ends.done > 0 && ends.refused > 0).to.equal(true);
  });

  it('holds up no other one where it is lost between the lock and the end of a change', async () => {
    const { relay, stores, dsn } = await scene();
    const other = (await gateway(dsn)).host.stores;
    const [one, two] = [
      await stores.keys.create({ name: 'one', scopes: [] }),
      await stores.keys.create({ name: 'two', scopes: [] }),
    ];
    await stores.keys.ask(digestOf(one.key));
    const lost = relay.after('update "api_keys"', { all: true });
    const change = stores.keys.update(one.record.id, { name: 'late' }, 'x').catch((error: unknown) => error);
    await lost;
    expect(await other.keys.revoke(two.record.id, 'x')).to.include({ active: false });
    relay.mode = 'cut'; // or the change would wait for as long as it may
    expect(await change).to.be.instanceOf(StoreUnavailable);
    expect((await other.keys.get(one.record.id))?.name).to.equal('one');
  });

  for (const text of ['BEGIN', 'pg_advisory_xact_lock', 'from "api_keys"', 'pg_notify', 'COMMIT'])
    inSoak(`holds up no other one where it is lost after ${text}`, async () => {
      const { relay, stores, dsn } = await scene();
      const other = (await gateway(dsn)).host.stores;
      const [one, two] = [
        await stores.keys.create({ name: 'one', scopes: [] }),
        await stores.keys.create({ name: 'two', scopes: [] }),
      ];
      const lost = relay.after(text, { all: true });
      const change = stores.keys.update(one.record.id, { name: 'late' }, 'x').catch((error: unknown) => error);
      await lost;
      expect(await other.keys.revoke(two.record.id, 'x')).to.include({ active: false });
      const end = await change;
      const name = (await other.keys.get(one.record.id))?.name;
      if (end instanceof ChangeInDoubt) expect(['one', 'late']).to.include(name);
      else expect(name).to.equal(end instanceof Error ? 'one' : 'late');
    });

  for (const [kind, text] of Object.entries(WRITES))
    inSoak(`holds up no other one where it is lost in a write of ${kind}, and counts once`, async () => {
      const { relay, t, stores, client, dsn } = await scene();
      const other = await gateway(dsn);
      const { key } = await stores.keys.create({ name: 'k', scopes: [] });
      for (const each of [stores, other.host.stores]) await each.keys.ask(digestOf(key));
      const lost = relay.after(text, { all: true });
      write({ t, stores }, digestOf(key));
      await lost;
      const before = await counted(client);
      write({ t: other, stores: other.host.stores }, digestOf(key));
      await eventually(
        async () => (await counted(client))[kind as keyof typeof WRITES] > before[kind as keyof typeof WRITES],
        5000,
      );
      const all = { ledger: 2, uses: 4, audit: 2, log: 2 };
      for (let second = 0; second < 40 && JSON.stringify(await counted(client)) !== JSON.stringify(all); second += 1)
        await sleep(1000);
      expect(await counted(client)).to.deep.equal(all);
    });
});
