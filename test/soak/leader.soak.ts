import { expect } from 'chai';
import { Client } from 'pg';
import { atEnd, eventually, forSuite, startOwnPostgres } from '../kit/index.ts';
import { Replica } from '../replicas/replica.ts';

/** Milliseconds within which another process leads, with room for a busy machine: the lease lasts 15 s, and a beat comes every 2 s. */
const HANDED_OVER_MS = 17_000 + 5_000;
const FAMILIES = ['config', 'keys', 'log'];

interface Fleet {
  readonly replicas: ReadonlyMap<number, Replica>;
  readonly client: Client;
}

/** Three processes that share one database, and a look at who holds the leases. */
async function fleet(): Promise<Fleet> {
  const dsn = await (await startOwnPostgres()).createDatabase();
  const client = new Client({ connectionString: dsn });
  const replicas = new Map<number, Replica>();
  for (const name of ['one', 'two', 'three']) {
    const replica = await Replica.make(name, dsn, 5000);
    await replica.start();
    atEnd(async () => {
      replica.signal('SIGCONT');
      await replica.end('SIGKILL');
    });
    replicas.set(replica.pid, replica);
  }
  await client.connect();
  atEnd(() => client.end());
  return { replicas, client };
}

/** The process that holds a lease now, by its family of jobs. */
async function leaders(client: Client): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query(
    'SELECT name, pid FROM gw_leases JOIN gw_replicas ON holder = id WHERE gw_leases.until > clock_timestamp()',
  );
  return new Map(rows.map(({ name, pid }) => [String(name), Number(pid)]));
}

const led = async (client: Client, without: number): Promise<boolean> => {
  const by = await leaders(client);
  return FAMILIES.every((family) => by.has(family) && by.get(family) !== without);
};

describe('jobs that one of three processes does for all', function handover() {
  this.timeout(180_000);
  const running = forSuite(fleet);

  const faults: Readonly<Record<string, (replica: Replica) => Promise<unknown>>> = {
    'is stopped, and goes on later': async (replica) => replica.signal('SIGSTOP'),
    'is killed': (replica) => replica.end('SIGKILL'),
  };
  for (const [what, fault] of Object.entries(faults))
    it(`are another's within 17 s when theirs ${what}`, async () => {
      const { client, replicas } = running();
      await eventually(async () => (await leaders(client)).size === FAMILIES.length, HANDED_OVER_MS);
      const before = await leaders(client);
      const pid = before.get('keys') ?? 0;
      const leader = replicas.get(pid);
      if (!leader) throw new Error(`no replica has the process id ${pid}`);
      await fault(leader);
      const since = performance.now();
      await eventually(() => led(client, pid), HANDED_OVER_MS);
      expect(await led(client, pid), `after ${Math.round(performance.now() - since)} ms`).to.equal(true);
      process.stdout.write(`      another leads after ${Math.round(performance.now() - since)} ms\n`);

      // What stopped leads no longer once it goes on: it has missed its beats.
      leader.signal('SIGCONT');
      const now = await leaders(client);
      await new Promise((resolve) => {
        setTimeout(resolve, 6000);
      });
      expect(await leaders(client)).to.deep.equal(now);
      expect(now.get('keys')).to.not.equal(pid);
    });
});
