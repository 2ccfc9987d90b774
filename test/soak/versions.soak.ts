import { setImmediate } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { Client } from 'pg';
import { atEnd, eventually, forSuite, startPostgres, temporaryFolder } from '../kit/index.ts';
import { checkedOut, type Program, startProgram, TODAY } from './support/programs.ts';

/** Programs that stand beside the one of today, each with what it has of the stores. */
const FORMER = [
  { commit: '59ff8cb6', what: 'the first one with stores', isWhole: false },
  { commit: '8237f6be', what: 'one of 23 November 2026', isWhole: true },
  { commit: '6a4839fe', what: 'the last one that refuses what it does not know', isWhole: true },
] as const;

const CALLS_BETWEEN = 40;

const LOGGER = ['before_request', 'after_request', 'on_error'].map((stage) => ({
  name: 'request-logger',
  type: 'logging',
  stage,
  enabled: true,
  config: { persist: true },
}));

interface Pair {
  readonly old: Program;
  readonly today: Program;
  readonly client: Client;
}

/** Calls both in turn for as long as work lasts, but whom a restart has taken out, and says how many were answered. */
class Traffic {
  answered = 0;
  readonly failures: string[] = [];
  readonly #programs: readonly Program[];
  readonly #key: string;
  readonly #out = new Set<Program>();
  #isOver = false;
  #running: Promise<void>;

  constructor(programs: readonly Program[], key: string) {
    this.#programs = programs;
    this.#key = key;
    this.#running = this.#run();
  }

  /** As a balancer does: no new call goes there while it restarts. */
  async without(program: Program, work: () => Promise<void>): Promise<void> {
    this.#out.add(program);
    await this.calls(4); // those that are under way have ended
    await work();
    this.#out.delete(program);
  }

  async calls(more = CALLS_BETWEEN): Promise<void> {
    const upTo = this.answered + more;
    await eventually(async () => this.answered >= upTo || this.failures.length > 0, 60_000);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn += 1) {
      const program = this.#programs[turn % this.#programs.length]!;
      if (this.#out.has(program)) {
        await setImmediate();
        continue;
      }
      const outcome = await program.chat(this.#key).catch((error: unknown) => String(error));
      if (outcome === 200) this.answered += 1;
      else this.failures.push(`${program.name}: ${outcome}`);
    }
  }
}

describe('programs of two versions on one Postgres', function ofTwo() {
  this.timeout(300_000);
  const server = forSuite(() => startPostgres());

  for (const former of FORMER) {
    describe(`today's and ${former.what}`, () => {
      const folder = forSuite(() => checkedOut(former.commit));
      for (const order of [
        ['old', 'today'],
        ['today', 'old'],
      ] as const)
        it(`serve side by side, and either restarts, where ${order[0] === 'old' ? 'the old one' : "today's"} was there first`, async () => {
          const dsn = await server().createDatabase();
          await besideEachOther(await starting(order, { ...former, folder: folder(), dsn }), former.isWhole);
        });
    });
  }
});

interface Start {
  readonly commit: string;
  readonly folder: string;
  readonly dsn: string;
  readonly isWhole: boolean;
}

async function starting(order: readonly ('old' | 'today')[], { commit, folder, dsn, isWhole }: Start): Promise<Pair> {
  const cwd = await temporaryFolder();
  const stores = isWhole ? ['API_KEY', 'CONFIG', 'REQUEST_LOG'] : ['API_KEY'];
  const variables = Object.fromEntries(
    stores.flatMap((store) => [
      [`${store}_STORE_BACKEND`, 'postgres'],
      [`${store}_STORE_DSN`, dsn],
    ]),
  );
  const config = { targets: [{ virtual_key: 'echo' }], ...(isWhole && { plugins: LOGGER }) };
  const started = new Map<string, Program>();
  for (const which of order) {
    const place = which === 'old' ? { name: commit, folder } : { name: 'today', folder: TODAY };
    started.set(which, await startProgram({ ...place, cwd, variables, config }));
  }
  const client = new Client({ connectionString: dsn });
  await client.connect();
  atEnd(() => client.end());
  return { old: started.get('old')!, today: started.get('today')!, client };
}

async function besideEachOther(pair: Pair, isWhole: boolean): Promise<void> {
  const { old, today, client } = pair;
  const { id, key } = await today.makeKey('shared');
  const traffic = new Traffic([old, today], key);
  try {
    await traffic.calls();
    await traffic.without(old, () => old.restart());
    await traffic.calls();
    await traffic.without(today, () => today.restart());
    await traffic.calls();
  } finally {
    await traffic.end();
  }
  expect(traffic.failures).to.deep.equal([]);
  expect(traffic.answered).to.be.at.least(3 * CALLS_BETWEEN);

  const ended = await today.makeKey('ended');
  expect([await old.chat(ended.key), await today.chat(ended.key)]).to.deep.equal([200, 200]);
  await today.revoke(ended.id);
  await eventually(async () => (await old.chat(ended.key)) === 401, 10_000);
  expect(await old.chat(ended.key)).to.equal(401);
  if (isWhole) await expectShared(pair);
  for (const program of [old, today]) await program.stop();
  const { rows } = await client.query('SELECT usage_count::int AS uses FROM api_keys WHERE id = $1', [id]);
  expect(rows, 'uses of the key').to.deep.equal([{ uses: traffic.answered }]);
  for (const program of [old, today]) await program.restart('SIGKILL');
  expect([await old.chat(key), await today.chat(key)]).to.deep.equal([200, 200]);
}

/** What only programs with all stores share. */
async function expectShared({ old, today, client }: Pair): Promise<void> {
  for (const [writer, reader] of [
    [old, today],
    [today, old],
  ] as const) {
    await writer.configure(`by ${writer.name}`);
    await eventually(async () => (await reader.nameOf()) === `by ${writer.name}`, 10_000);
    expect(await reader.nameOf()).to.equal(`by ${writer.name}`);
    expect(await reader.chat((await writer.makeKey('made by one')).key)).to.equal(200);
  }
  const agree = async (): Promise<unknown> =>
    (
      await client.query(
        'SELECT (SELECT count(*) FROM request_logs) > 0 AS some, (SELECT count(*) FROM request_logs) = (SELECT sum(entries) FROM request_log_counts) AS counted',
      )
    ).rows[0];
  await eventually(async () => isDeepStrictEqual(await agree(), { some: true, counted: true }));
  expect(await agree(), 'rows of the log, and their counts').to.deep.equal({ some: true, counted: true });
}
