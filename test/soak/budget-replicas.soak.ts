import { setTimeout as sleep } from 'node:timers/promises';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import {
  atEnd,
  Dice,
  forSuite,
  type GatewayProcess,
  MASTER_KEY,
  type PostgresServer,
  type Relay,
  startGateway,
  startPostgres,
  startRelay,
  temporaryFolder,
} from '../kit/index.ts';

const SEEDS = [1, 2, 3];
const REPLICAS = 3;
const WORKERS = 4;
/** Requests that all replicas together may serve. */
const LIMIT = 600;
const STEPS = 12;

/** One replica behind a relay of its own to the database. */
interface Replica {
  gateway: GatewayProcess | undefined;
  readonly relay: Relay;
  readonly start: () => Promise<GatewayProcess>;
}

const send = (gateway: GatewayProcess): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'one two three' }] }),
    signal: AbortSignal.timeout(20_000),
  });

describe('a budget that nothing may cross, of three replicas', function onPostgres() {
  this.timeout(300_000);
  const server = forSuite<PostgresServer>(startPostgres);

  for (const seed of SEEDS)
    it(`is not crossed by kill -9, cuts and silence (seed ${seed})`, async () => {
      const dice = new Dice(seed);
      const dsn = await server().createDatabase();
      const file = join(await temporaryFolder(), 'config.json');
      const account = { path: '/', budgets: [{ requests: LIMIT, overrun: 'none' }] };
      await writeFile(file, JSON.stringify({ targets: [{ virtual_key: 'echo' }], accounts: [account] }));
      const database = await openPostgres(dsn);
      atEnd(() => database.close());
      const all: Replica[] = [];
      for (let at = 0; at < REPLICAS; at += 1) {
        const relay = await startRelay(dsn);
        const start = (): Promise<GatewayProcess> =>
          startGateway({
            variables: {
              MASTER_KEY,
              GATEWAY_CONFIG: file,
              RATE_LIMIT_RPS: '0',
              API_KEY_STORE_BACKEND: 'postgres',
              API_KEY_STORE_DSN: relay.url,
            },
          });
        all.push({ gateway: await start(), relay, start });
      }
      const run = { isOver: false };
      const answers: Record<number, number> = {};
      const highest = { held: 0 };
      const watch = async (): Promise<void> => {
        while (!run.isOver) {
          const { rows } = await database.knex.raw<{ rows: { sum: string }[] }>(
            `SELECT (SELECT coalesce(sum(committed), 0) FROM ledger_accounts WHERE account LIKE '%requests%')
              + (SELECT coalesce(sum(amount), 0) FROM ledger_slices WHERE account LIKE '%requests%') AS sum`,
          );
          highest.held = Math.max(highest.held, Number(rows[0]?.sum));
          await sleep(25);
        }
      };
      const work = async (replica: Replica): Promise<void> => {
        while (!run.isOver) {
          const { gateway } = replica;
          const status = gateway
            ? await send(gateway).then(
                (answer) => answer.text().then(() => answer.status),
                () => 0,
              )
            : 0;
          answers[status] = (answers[status] ?? 0) + 1;
          await sleep(700);
        }
      };
      const working = [watch(), ...all.flatMap((replica) => Array.from({ length: WORKERS }, () => work(replica)))];
      for (let step = 0; step < STEPS; step += 1) {
        const replica = dice.pick(all);
        if (dice.below(3) === 0) {
          replica.gateway?.child.kill('SIGKILL');
          replica.gateway = undefined;
          await sleep(dice.below(1500));
          replica.gateway = await replica.start();
        } else {
          replica.relay.mode = dice.pick(['cut', 'dark', 'held', 'silent']);
          await sleep(500 + dice.below(2500));
          replica.relay.mode = 'pass';
        }
        await sleep(dice.below(1000));
      }
      await sleep(3000);
      run.isOver = true;
      await Promise.all(working);
      for (const { relay } of all) relay.mode = 'cut'; // what is silent would stay open
      expect(highest.held).to.be.within(1, LIMIT);
      expect(answers[200]).to.be.within(LIMIT / 3, LIMIT);
    });
});
