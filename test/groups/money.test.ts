import { expect } from 'chai';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { ask, chatReply, eventually, replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { PATH, to } from './fleet.ts';

const UNKNOWN = 'not-in-the-catalog';

interface Scene {
  readonly host: TestHost;
  /** Upstream models that were called. */
  readonly calls: string[];
  /** Micro-dollars that were put aside while an upstream had a call, one for each. */
  readonly held: number[];
  readonly failing: Set<string>;
  readonly send: (
    model: string,
    more?: object,
  ) => Promise<{ readonly status: number; readonly message: string | undefined }>;
  readonly booked: () => Promise<number>;
}

/** A key with a budget in front of a stub that stands for OpenAI, whose models have the prices of the catalog. */
async function scene(document: object): Promise<Scene> {
  const calls: string[] = [];
  const held: number[] = [];
  const failing = new Set<string>();
  const upstream = await stubUpstream((request, response) => {
    const model = String(request.json()['model']);
    calls.push(model);
    held.push(ledger().reserved);
    if (failing.has(model)) replyJson(response, 503, { error: { message: 'no' } });
    else
      replyJson(
        response,
        200,
        chatReply('x', { usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 } }),
      );
  });
  const host = await startHost(
    { strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'openai' }], ...document },
    { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  const {
    key,
    record: { id },
  } = await host.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: 100 } });
  const ledger = (): MemoryLedger => {
    const carryover = host.host.carryover.open();
    const found = carryover.lease<MemoryLedger>('ledger key budgets', () => {
      throw new Error('there is no ledger');
    });
    void carryover.release();
    return found;
  };
  return {
    host,
    calls,
    held,
    failing,
    send: async (model, more = {}) => {
      const answer = await host.post(PATH, ask('hi', { model, ...more }), { authorization: `Bearer ${key}` });
      return { status: answer.status, message: answer.json().error?.message };
    },
    booked: async () => {
      await eventually(() => host.host.slot.leases === 0);
      return ledger().committed(id);
    },
  };
}

describe('what a request in a group may cost', () => {
  const CHEAP = { name: 'cheap', ...to('openai/gpt-4o-mini') };
  const CHAINED = { name: 'chained', ...to('openai/gpt-4o-mini'), fallbacks: ['middle'] };
  const MIDDLE = { name: 'middle', ...to('openai/gpt-4o-mini', 'openai/gpt-4.1-mini'), fallbacks: ['gpt-4o'] };

  it('is put aside by the dearest of its routes and of all fallbacks, fallbacks of fallbacks included', async () => {
    const { send, held, calls } = await scene({ models: [CHEAP, CHAINED, MIDDLE] });
    for (const model of ['cheap', 'chained', 'middle', 'gpt-4o'])
      expect((await send(model, { max_tokens: 100 })).status).to.equal(200);
    expect(calls).to.deep.equal(['gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o-mini', 'gpt-4o']);
    const [cheap, chained, middle, dear] = held;
    expect([chained, middle], 'as for the fallback itself').to.deep.equal([dear, dear]);
    expect(cheap).to.be.below(dear! / 10);
  });

  it('is booked by what served it', async () => {
    const { send, failing, booked, calls } = await scene({ models: [CHAINED, MIDDLE] });
    failing.add('gpt-4o-mini').add('gpt-4.1-mini');
    expect((await send('chained')).status).to.equal(200);
    expect(calls).to.deep.equal(['gpt-4o-mini', 'gpt-4.1-mini', 'gpt-4o']);
    expect(await booked()).to.equal(1000 * 2.5 + 500 * 10);
  });
});

describe('a group whose models have no price, where such requests are refused', () => {
  const document = (fallbacks: readonly string[]): object => ({
    money: { unpriced: 'refuse' },
    targets: [{ virtual_key: 'openai', models: [UNKNOWN] }],
    models: [{ name: 'smart', ...to(`openai/${UNKNOWN}`), fallbacks }],
  });

  it('goes by a fallback that has one', async () => {
    const { send, calls } = await scene(document([UNKNOWN, 'gpt-4o']));
    expect((await send('smart')).status).to.equal(200);
    expect(calls).to.deep.equal(['gpt-4o']);
  });

  it('refuses the request where no fallback has one, naming what was asked for', async () => {
    for (const fallbacks of [[], [UNKNOWN]]) {
      const { send, calls } = await scene(document(fallbacks));
      expect(await send('smart')).to.deep.equal({
        status: 400,
        message:
          'request rejected by budget (before_request): the model "smart" has no price, and the key refuses what it cannot price',
      });
      expect(calls).to.deep.equal([]);
    }
  });

  it('answers the failure of a fallback, and not the refusal of the others', async () => {
    const { send, failing } = await scene(document(['gpt-4o', UNKNOWN]));
    failing.add('gpt-4o');
    expect((await send('smart')).status).to.equal(502);
  });
});
