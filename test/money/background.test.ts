import { expect } from 'chai';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import {
  eventually,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';

const PATH = '/v1/responses';
const usage = { input_tokens: 100, output_tokens: 50, total_tokens: 150 };
/** gpt-4o: micro-dollars. */
const COST = 100 * 2.5 + 50 * 10;
/** The prompt and 1,000 tokens at most. */
const HELD = [1000 * 10, 1000 * 10 + 30] as const;

interface Scene {
  readonly t: TestHost;
  readonly create: (more?: object) => Promise<string>;
  readonly read: (bearer?: string) => Promise<number>;
  readonly booked: () => Promise<number>;
  readonly byPlugin: () => number;
  finish: (response: object) => void;
}

async function scene(plugins: readonly object[] = [], stream?: StubHandler): Promise<Scene> {
  let state: object = { status: 'in_progress' };
  const upstream = await stubUpstream(async (seen, response) => {
    if (seen.method === 'POST' && stream) return stream(seen, response);
    return replyJson(response, 200, {
      id: 'resp_1',
      object: 'response',
      model: 'gpt-4o',
      background: true,
      output: [],
      ...(seen.method === 'POST' ? { status: 'queued' } : state),
    });
  });
  const t = await startHost(
    { targets: [{ virtual_key: 'openai', models: ['gpt-4o'] }], responses_target: 'openai', plugins },
    { variables: { OPENAI_API_KEY: 'k-0123456789', OPENAI_BASE_URL: `${upstream.url}/v1` } },
  );
  const {
    key,
    record: { id },
  } = await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { budget_usd: 1 } });
  const other = await t.host.stores.keys.create({ name: 'other', scopes: ['read_only'] });
  const committed = (name: string): number => {
    const carryover = t.host.carryover.open();
    const ledger = carryover.lease<MemoryLedger>(`ledger ${name}`, () => {
      throw new Error('there is no ledger');
    });
    void carryover.release();
    return ledger.committed(id);
  };
  return {
    t,
    create: async (more = {}) =>
      (
        await t.post(
          PATH,
          { model: 'gpt-4o', input: 'hi', background: true, max_output_tokens: 1000, ...more },
          { authorization: `Bearer ${key}` },
        )
      ).text,
    read: async (bearer = other.key) => (await t.get(`${PATH}/resp_1`, { authorization: `Bearer ${bearer}` })).status,
    booked: async () => {
      await eventually(() => t.host.slot.leases === 0);
      return committed('key budgets');
    },
    byPlugin: () => committed('budget default'),
    finish: (response) => {
      state = response;
    },
  };
}

describe('a response that its provider goes on with by itself', () => {
  it('is booked at once as what it may cost, and corrected once, when an answer tells its usage, also to another key', async () => {
    const set = await scene();
    await set.create();
    expect(await set.booked()).to.be.within(...HELD);
    expect(await set.read()).to.equal(200); // it is not there yet
    expect(await set.booked()).to.be.within(...HELD);
    set.finish({ status: 'completed', usage });
    for (let time = 0; time < 3; time += 1) expect(await set.read()).to.equal(200);
    await eventually(async () => (await set.booked()) <= COST + 1);
    expect(await set.booked()).to.be.within(COST, COST + 1);
  });

  it('gives nothing back where it ends without usage', async () => {
    const set = await scene();
    await set.create();
    for (const status of ['failed', 'cancelled']) {
      set.finish({ status });
      expect(await set.read()).to.equal(200);
    }
    expect(await set.booked()).to.be.within(...HELD);
  });

  it('may cost more than was booked', async () => {
    const set = await scene();
    await set.create({ max_output_tokens: 1 });
    set.finish({ status: 'incomplete', usage });
    await set.read();
    await eventually(async () => (await set.booked()) >= COST);
    expect(await set.booked()).to.be.within(COST, COST + 1);
  });

  it('is corrected in the ledger of the plugin too, by its own rates', async () => {
    const plugins = ['before_request', 'after_request'].map((stage) => ({
      name: 'budget',
      stage,
      enabled: true,
      config: { spend_limit_usd: 5, input_per_m_tokens: 1, output_per_m_tokens: 2 },
    }));
    const set = await scene(plugins);
    await set.create();
    await set.booked();
    expect(set.byPlugin()).to.be.within(2000, 2020);
    set.finish({ status: 'completed', usage });
    await set.read();
    await eventually(() => set.byPlugin() <= 201);
    expect(set.byPlugin()).to.be.within(200, 201);
  });

  it('that is streamed is booked by its usage where that comes, and as what it may cost where the client leaves before', async () => {
    const created = {
      type: 'response.created',
      response: { id: 'resp_1', object: 'response', model: 'gpt-4o', background: true, status: 'queued', output: [] },
    };
    const whole = await scene([], (_seen, response) => {
      openSse(response);
      response.end(
        [created, { type: 'response.completed', response: { ...created.response, status: 'completed', usage } }]
          .map(sseEvent)
          .join(''),
      );
    });
    expect(await whole.create({ stream: true })).to.include('response.completed');
    expect(await whole.booked()).to.equal(COST);

    const cut = await scene([], (_seen, response) => {
      openSse(response);
      response.write(sseEvent(created), () => setImmediate(() => response.destroy()));
    });
    await cut.create({ stream: true }).catch(() => '');
    expect(await cut.booked()).to.be.within(...HELD);
    cut.finish({ status: 'completed', usage });
    await cut.read();
    await eventually(async () => (await cut.booked()) <= COST + 1);
  });

  it('costs nothing to read, with or without usage', async () => {
    const set = await scene();
    set.finish({ status: 'completed', usage });
    for (let time = 0; time < 3; time += 1) await set.read();
    expect(set.t.samples.filter(({ name }) => name === 'gateway_request_cost_usd_total')).to.deep.equal([]);
  });
});
