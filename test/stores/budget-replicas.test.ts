import { expect } from 'chai';
import {
  ask,
  chatReply,
  eventually,
  forSuite,
  MASTER_KEY,
  type PostgresServer,
  replyJson,
  startHost,
  startOwnPostgres,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const CHAT = '/v1/chat/completions';

describe('gateways that spend from one budget', function together() {
  this.timeout(120_000);
  const server = forSuite<PostgresServer>(startOwnPostgres);

  async function gateways(count: number, budgets: readonly object[], variables = {}): Promise<readonly TestHost[]> {
    const stub = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('hello')));
    const dsn = await server().createDatabase();
    const all: TestHost[] = [];
    for (let at = 0; at < count; at += 1)
      all.push(
        await startHost(
          { targets: [stub.target('a')], accounts: [{ path: '/', budgets }] },
          {
            variables: {
              API_KEY_STORE_BACKEND: 'postgres',
              API_KEY_STORE_DSN: dsn,
              RATE_LIMIT_RPS: '0',
              MASTER_KEY,
              ...variables,
            },
          },
        ),
      );
    return all;
  }

  const statuses = (all: readonly TestHost[], count: number): Promise<number[]> =>
    Promise.all(Array.from({ length: count }, async (_, at) => (await all[at % all.length]!.post(CHAT, ask())).status));
  const countOf = (all: readonly number[], status: number): number => all.filter((each) => each === status).length;

  for (const overrun of ['one', 'none'])
    it(`serve as many requests as one gateway would, wherever they go: overrun ${overrun}`, async () => {
      const all = await gateways(3, [{ requests: 20, overrun }]);
      const answers = await statuses(all, 60);
      expect([countOf(answers, 200), countOf(answers, 402)]).to.deep.equal([20, 40]);
      await eventually(() => all.every(({ host }) => host.slot.leases === 0));
      expect(countOf(await statuses(all, 6), 402)).to.equal(6);
    });

  it('give back what a request held that was not served, and a client that left', async () => {
    const all = await gateways(2, [{ requests: 3, overrun: 'none' }]);
    const failed = await Promise.all(
      Array.from(
        { length: 6 },
        async (_, at) => (await all[at % 2]!.post(CHAT, { ...ask(), model: 'unknown' })).status,
      ),
    );
    expect(new Set(failed)).to.deep.equal(new Set([404]));
    const leaving = Array.from({ length: 4 }, async (_, at) => {
      const controller = new AbortController();
      const sent = fetch(`${all[at % 2]!.url}${CHAT}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
        body: '{',
        signal: controller.signal,
      }).catch(() => undefined);
      controller.abort();
      await sent;
    });
    await Promise.all(leaving);
    await eventually(() => all.every(({ host }) => host.slot.leases === 0));
    const answers = await statuses(all, 6);
    expect([countOf(answers, 200), countOf(answers, 402)]).to.deep.equal([3, 3]);
  });
});
