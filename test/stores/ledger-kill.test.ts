import { writeFile } from 'node:fs/promises';
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

const CHAT = '/v1/chat/completions';
const ROUNDS = cases(30) === 30 ? 30 : 1; // each starts the gateway anew
const WORKERS = 6;
/** Milliseconds after its answer within which a request may be forgotten: docs/stores.md, with room for a busy machine. */
const BOUND_MS = 2000;
/** Dollars for a token: a refusal tells what was spent to the ten-thousandth of one. */
const PRICE = 0.1;
/** What a request reserves, in tokens; no more than a few of them fit below the limit, and all of them cost less than one booking may be. */
const CEILING = 1000;
const LIMIT = 7500;

interface Answered {
  readonly at: number;
  readonly tokens: number;
}

const pluginFile = (limitUsd: number): string =>
  JSON.stringify({
    targets: [{ virtual_key: 'echo' }],
    plugins: ['before_request', 'after_request'].map((stage) => ({
      name: 'budget',
      stage,
      enabled: true,
      config: { input_per_m_tokens: PRICE * 1e6, output_per_m_tokens: PRICE * 1e6, spend_limit_usd: limitUsd },
    })),
  });

const send = (gateway: GatewayProcess, body: object, bearer = MASTER_KEY): Promise<Response> =>
  fetch(`${gateway.url}${CHAT}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'one two three' }], ...body }),
  });

/** Sends until the gateway is gone; `sent` counts what was begun and not answered. */
async function work(gateway: GatewayProcess, answered: Answered[], open: { requests: number }): Promise<void> {
  for (;;) {
    open.requests += 1;
    try {
      const answer = await send(gateway, { max_tokens: CEILING });
      const body = (await answer.json()) as Record<string, any>;
      if (answer.status === 200) answered.push({ at: performance.now(), tokens: body['usage'].total_tokens as number });
      else expect(answer.status).to.equal(402);
      open.requests -= 1;
    } catch (error) {
      if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error; // the connection broke off
      return;
    }
  }
}

/** What was spent, in tokens, as a refusal at a limit that is always reached says. */
async function spentOf(start: (limitUsd: number) => Promise<GatewayProcess>): Promise<number> {
  const gateway = await start(0.000_001);
  const answer = await send(gateway, {});
  expect(answer.status).to.equal(402);
  const { error } = (await answer.json()) as { error: { message: string } };
  expect(await gateway.stop()).to.equal(0);
  return Math.round(Number(/spent \$(\d+\.\d{4}) of/.exec(error.message)?.[1]) / PRICE);
}

async function survive(variables: Record<string, string>, seed: number): Promise<void> {
  const folder = await temporaryFolder();
  const start = async (limitUsd: number): Promise<GatewayProcess> => {
    await writeFile(join(folder, 'config.yaml'), pluginFile(limitUsd));
    return startGateway({ variables: { ...variables, MASTER_KEY, GATEWAY_CONFIG: join(folder, 'config.yaml') } });
  };
  const dice = new Dice(seed);
  let least = 0;
  let most = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const gateway = await start((most + LIMIT) * PRICE); // a reservation that outlived its process would fill it
    expect((await send(gateway, { max_tokens: CEILING * 7 })).status).to.equal(200);
    const answered: Answered[] = [{ at: 0, tokens: 6 }];
    const open = { requests: 0 };
    const working = Promise.all(Array.from({ length: WORKERS }, () => work(gateway, answered, open)));
    while (answered.length === 1) await sleep(10); // a busy machine takes its time
    await sleep(BOUND_MS + 1 + dice.below(1500));
    const killedAt = performance.now();
    expect(await gateway.stop('SIGKILL')).to.equal(null);
    await working;
    const sure = answered.filter(({ at }) => at < killedAt - BOUND_MS).reduce((sum, { tokens }) => sum + tokens, 0);
    const all = answered.reduce((sum, { tokens }) => sum + tokens, 0) + open.requests * 6;
    const spent = await spentOf(start);
    expect(spent, `round ${round}`).to.be.within(least + sure, most + all);
    expect(sure).to.be.greaterThan(6);
    [least, most] = [spent, spent];
  }
}

describe(`spend, when the gateway is killed ${ROUNDS} times`, function killed() {
  this.timeout(30 * 60_000);

  it('is kept on SQLite, and nothing stays reserved', async () => {
    await survive({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(await temporaryFolder(), 'keys.db') }, 1);
  });

  describe('with Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    inSoak('is kept, and nothing stays reserved', async () => {
      await survive({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn() }, 2);
    });
  });
});

describe('the budget of a key, over a restart of the gateway', function restarted() {
  this.timeout(60_000);

  inSoak('stays spent on SQLite', async () => {
    const folder = await temporaryFolder();
    const variables = {
      MASTER_KEY,
      API_KEY_STORE_BACKEND: 'sqlite',
      API_KEY_STORE_DSN: join(folder, 'keys.db'),
      GW_MODEL_CATALOG_OVERLAY: join(folder, 'prices.json'),
      GATEWAY_CONFIG: join(folder, 'config.yaml'),
    };
    await writeFile(
      join(folder, 'prices.json'),
      JSON.stringify({ 'echo/echo': { pricing: { input_per_m_tokens: 1e5, output_per_m_tokens: 1e5 } } }),
    );
    await writeFile(join(folder, 'config.yaml'), JSON.stringify({ targets: [{ virtual_key: 'echo' }] }));
    const first = await startGateway({ variables });
    const made = await fetch(`${first.url}/admin/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'k', budget_usd: 0.5 }),
    });
    const { key } = (await made.json()) as { key: string };
    expect((await send(first, {}, key)).status).to.equal(200);
    expect(await first.stop()).to.equal(0);
    const second = await startGateway({ variables });
    const refused = await send(second, {}, key);
    expect(refused.status).to.equal(402);
    expect(refused.headers.get('retry-after')).to.equal(null);
    expect(((await refused.json()) as Record<string, any>)['error']).to.include({
      code: 'insufficient_quota',
      message: 'request rejected by budget (before_request): budget exceeded: spent $0.6000 of $0.50 limit',
    });
    expect(await second.stop()).to.equal(0);
  });
});
