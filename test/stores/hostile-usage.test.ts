import { join } from 'node:path';
import { expect } from 'chai';
import {
  ask,
  chatReply,
  forSuite,
  replyJson,
  startHost,
  startPostgres,
  stubUpstream,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';
/** Calls of each key. A sum of so many of the largest numbers is more than any column holds. */
const CALLS = 130;
/** What a call of the victim costs, in dollars. */
const PRICE = 0.0018;
const ABSURD = [9_007_199_254_740_991, 1e23, 1e308, -9_007_199_254_740_991, '9007199254740991', null];

type Variables = Readonly<Record<string, string>>;

/** A gateway whose upstream reports absurd usage where the request asks for it. */
async function gateway(variables: Variables, spendLimitUsd: number): Promise<TestHost> {
  const upstream = await stubUpstream((seen, response) => {
    const tokens = ABSURD[Number(seen.json()['seed'])];
    replyJson(
      response,
      200,
      chatReply(
        'hello',
        tokens === undefined
          ? { usage: { prompt_tokens: 10, completion_tokens: 8, total_tokens: 18 } }
          : { usage: { prompt_tokens: tokens, completion_tokens: tokens, total_tokens: tokens } },
      ),
    );
  });
  return startHost(
    {
      targets: [upstream.target('a')],
      plugins: ['before_request', 'after_request'].map((stage) => ({
        name: 'budget',
        stage,
        enabled: true,
        config: { input_per_m_tokens: 100, output_per_m_tokens: 100, spend_limit_usd: spendLimitUsd },
      })),
    },
    { variables },
  );
}

const send = async (t: TestHost, key: string, more: object = {}): Promise<number> =>
  (await t.post(CHAT, ask('hi', more), { authorization: `Bearer ${key}` })).status;

async function survive(variables: Variables): Promise<void> {
  const first = await gateway(variables, 0);
  const [victim, hostile] = await Promise.all(
    ['victim', 'hostile'].map(
      async (name) => (await first.host.stores.keys.create({ name, scopes: ['read_only'] })).key,
    ),
  );
  for (let call = 0; call < CALLS; call += 1) {
    expect(await send(first, hostile as string, { seed: call % ABSURD.length })).to.be.within(200, 599);
    expect(await send(first, victim as string)).to.equal(200);
  }
  await first.close();
  expect(
    first.lines.filter(({ msg }) => /is lost|does not answer|refused by its store/.test(msg as string)),
  ).to.deep.equal([]);

  const second = await gateway(variables, 0.000_001);
  const refused = await second.post(CHAT, ask(), { authorization: `Bearer ${victim}` });
  expect([refused.status, refused.json().error.message]).to.deep.equal([
    402,
    `request rejected by budget (before_request): budget exceeded: spent $${(CALLS * PRICE).toFixed(4)} of $0.00 limit`,
  ]);
  expect(await send(second, hostile as string)).to.equal(402);
}

describe('the spend of a key beside one whose answers report absurd usage', function beside() {
  this.timeout(60_000);

  it('is written on SQLite, and known after a restart', async () => {
    await survive({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(await temporaryFolder(), 'keys.db') });
  });

  describe('with Postgres', () => {
    const dsn = forSuite(async () => (await startPostgres()).createDatabase());

    it('is written, and known after a restart', async () => {
      await survive({ API_KEY_STORE_BACKEND: 'postgres', API_KEY_STORE_DSN: dsn() });
    });
  });
});
