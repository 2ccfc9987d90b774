import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import {
  cases,
  Dice,
  forSuite,
  type GatewayProcess,
  inSoak,
  MASTER_KEY,
  startGateway,
  startPostgres,
  temporaryFolder,
} from '../kit/index.ts';

const ROUNDS = cases(20) === 20 ? 20 : 1; // each starts the gateway anew
const WORKERS = 6;
/** Milliseconds after its answer within which a request may be forgotten: docs/stores.md, with room for a busy machine. */
const BOUND_MS = 2000;
/** Tokens that the echo of three words counts. */
const TOKENS = 6;
const UNITS = { requests: 1, tokens: TOKENS } as const;
const budgetsOf = (limit: number): readonly object[] =>
  Object.keys(UNITS).map((unit) => ({ [unit]: limit, every: '87600h' }));

const ask = (
  gateway: GatewayProcess,
  path: string,
  body: object,
  more: { method?: string; bearer?: string } = {},
): Promise<Response> =>
  fetch(`${gateway.url}${path}`, {
    method: more.method ?? 'POST',
    headers: { authorization: `Bearer ${more.bearer ?? MASTER_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const chat = (gateway: GatewayProcess, bearer: string): Promise<Response> =>
  ask(
    gateway,
    '/v1/chat/completions',
    { model: 'echo', messages: [{ role: 'user', content: 'one two three' }] },
    { bearer },
  );

interface Work {
  readonly answered: number[];
  begun: number;
}

/** Sends until the gateway is gone. */
async function work(gateway: GatewayProcess, bearer: string, done: Work): Promise<void> {
  for (;;) {
    done.begun += 1;
    try {
      const answer = await chat(gateway, bearer);
      await answer.text();
      expect(answer.status).to.equal(200);
      done.answered.push(performance.now());
    } catch (error) {
      if (!(error instanceof TypeError)) throw error; // the connection broke off
      return;
    }
  }
}

/** What each budget holds, as its refusal says once its limit is 0. */
async function sums(gateway: GatewayProcess, id: string, bearer: string): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const unit of Object.keys(UNITS)) {
    const budgets = budgetsOf(1e9).map((budget) => (unit in budget ? { ...budget, [unit]: 0 } : budget));
    expect((await ask(gateway, `/admin/keys/${id}`, { budgets }, { method: 'PUT' })).status).to.equal(200);
    const refused = await chat(gateway, bearer);
    expect(refused.status).to.equal(402);
    found[unit] = Number(/spent=(\d+)/.exec(refused.headers.get('x-gateway-budget') ?? '')?.[1]);
  }
  expect((await ask(gateway, `/admin/keys/${id}`, { budgets: budgetsOf(1e9) }, { method: 'PUT' })).status).to.equal(
    200,
  );
  return found;
}

async function survive(variables: Record<string, string>, seed: number): Promise<void> {
  const dice = new Dice(seed);
  const start = (): Promise<GatewayProcess> => startGateway({ variables: { ...variables, MASTER_KEY } });
  let gateway = await start();
  const made = (await (await ask(gateway, '/admin/keys', { name: 'k', budgets: budgetsOf(1e9) })).json()) as {
    id: string;
    key: string;
  };
  let before = await sums(gateway, made.id, made.key);
  for (let round = 0; round < ROUNDS; round += 1) {
    const done: Work = { answered: [], begun: 0 };
    const working = Promise.all(Array.from({ length: WORKERS }, () => work(gateway, made.key, done)));
    while (done.answered.length === 0) await sleep(10); // a busy machine takes its time
    await sleep(BOUND_MS + 1 + dice.below(1000));
    const killedAt = performance.now();
    expect(await gateway.stop('SIGKILL')).to.equal(null);
    await working;
    gateway = await start();
    const after = await sums(gateway, made.id, made.key);
    const sure = done.answered.filter((at) => at < killedAt - BOUND_MS).length;
    for (const [unit, each] of Object.entries(UNITS))
      expect((after[unit] ?? 0) - (before[unit] ?? 0), `round ${round}, ${unit}`).to.be.within(
        sure * each,
        done.begun * each,
      );
    expect(sure).to.be.greaterThan(0);
    before = after;
  }
  expect(await gateway.stop()).to.equal(0);
}

describe(`budgets of a key, when the gateway is killed ${ROUNDS} times`, function killed() {
  this.timeout(30 * 60_000);

  it('hold what was answered, and no more than was asked, on SQLite', async () => {
    await survive({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(await temporaryFolder(), 'keys.db') }, 1);
  });

  describe('with Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    inSoak('hold what was answered, and no more than was asked', async () => {
      await survive({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn() }, 2);
    });
  });
});
