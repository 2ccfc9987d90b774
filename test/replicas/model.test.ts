import { expect } from 'chai';
import { rowsOf } from '../../builtins/stores/database/database.ts';
import { openPostgres } from '../../builtins/stores/database/postgres.ts';
import { forSuite, isSoak, MASTER_KEY, type PostgresServer, startOwnPostgres } from '../kit/index.ts';
import { PRICE } from './replica.ts';
import { type Fault, FAULTS, Run, type RunOptions } from './run.ts';

/** What echo says of every request of the run. */
const TOKENS = 6;
const MINUTE = 60_000;
/** Faults after which a replica is itself again at once. */
const QUICK: readonly Fault[] = ['kill', 'freeze', 'cut', 'slow', 'server'];

interface Kept {
  readonly spent: number;
  readonly rows: number;
  readonly versions: readonly number[];
}

/** What stands in the database when all gateways have stopped. Spend in tokens. */
async function kept(dsn: string): Promise<Kept> {
  const database = await openPostgres(dsn);
  const number = async (sql: string): Promise<number> =>
    Number(rowsOf(await database.knex.raw(sql))[0]?.['found'] ?? 0);
  try {
    return {
      spent: (await number('SELECT sum(committed) AS found FROM ledger_accounts')) / (PRICE * 1e6),
      rows: await number("SELECT count(*) AS found FROM request_logs WHERE stage = 'after_request'"),
      versions: rowsOf(await database.knex.raw('SELECT version FROM config_history ORDER BY version')).map((row) =>
        Number(row['version']),
      ),
    };
  } finally {
    await database.close();
  }
}

/** Every replica serves what counts, refuses what does not, and runs one configuration: the last that was stored, or one of which it is not known. */
async function expectAgreement({ replicas, truth, markers }: Run): Promise<void> {
  const running = new Set<string>();
  for (const replica of replicas) {
    for (const credential of [...truth.live, ...truth.ended.slice(-50)])
      truth.used(credential, await replica.ask('POST', '/v1/chat/completions', credential.value, CHAT_BODY), replica);
    const { body } = await replica.ask('GET', '/admin/config', MASTER_KEY);
    running.add((JSON.parse(body) as { aliases: { latest: string } }).aliases.latest);
  }
  expect([...running], 'configurations that run').to.have.length(1);
  expect([markers.stored.at(-1), ...markers.maybe]).to.include([...running][0]);
}

const CHAT_BODY = { model: 'echo', messages: [{ role: 'user', content: 'one two three' }] };

async function runs(server: PostgresServer, options: RunOptions): Promise<void> {
  const dsn = await server.createDatabase();
  const run = await Run.make(server, dsn, options);
  const { truth, replicas } = run;
  await run.play();
  await expectAgreement(run);
  for (const replica of replicas) expect(await replica.end('SIGTERM'), 'the exit of a replica').to.equal(0);
  const sure = truth.served.filter(
    ({ answer, replica }) => answer.at <= (replica.keptUntil.get(answer.life) ?? Number.POSITIVE_INFINITY),
  ).length;
  const most = truth.served.length + truth.unknown;
  const { spent, rows, versions } = await kept(dsn);
  if (isSoak())
    console.log(
      `      seed ${options.seed}: ${truth.served.length} answers, ${truth.unknown} unknown, ${sure} sure, ${run.markers.stored.length} configurations; spent ${spent / TOKENS}, rows ${rows}; served for at most ${Math.round(truth.longestServedMs)} ms after an end; ${JSON.stringify(Object.fromEntries(run.faults))}`,
    );
  expect(truth.problems.slice(0, 20).join('\n')).to.equal('');
  expect(spent / TOKENS, 'what was spent').to.be.within(sure, most);
  expect(rows, 'rows of the log').to.be.within(sure, most);
  expect(versions.length, 'versions of the configuration').to.be.within(
    run.markers.stored.length - 1,
    run.markers.sent,
  );
  expect(versions).to.deep.equal(versions.map((_version, at) => at + 1));
}

describe('three gateways on one Postgres, with one fault after another', function faults() {
  this.timeout(45 * MINUTE);
  const server = forSuite(startOwnPostgres);

  const plan = isSoak()
    ? [1, 2, 3].map((seed) => ({
        seed,
        milliseconds: 10 * MINUTE,
        faultMs: 20_000,
        faults: FAULTS,
        wellWithinMs: 17_000,
      }))
    : [{ seed: 1, milliseconds: 6000, faultMs: 800, faults: QUICK, wellWithinMs: 6000 }];
  for (const options of plan)
    it(`lose nothing that was answered, do nothing twice, and serve nothing that has ended (seed ${options.seed})`, () =>
      runs(server(), options));
});
