import { NOTHING_SPENT } from '../../host/stores/ledgers/ledgers.ts';
import { expect } from 'chai';
import type {
  Exchange,
  Ledger,
  PluginDeps,
  PluginHandlers,
  Refusal,
  Reservation,
  ReservationOrder,
  Usage,
} from 'gw/contract';
import budget from '../../plugins/budget/index.ts';
import { defineBuiltin } from '../../host/builtin.ts';
import { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { chatReply, eventually, replyJson } from '../kit/index.ts';
import { RATES, refusal, refused, scene, STAGES } from './budget-scene.ts';
import { withKeys } from './kit.ts';

describe('budget, its ledger', () => {
  it('goes on over a configuration change with the same store_id, whatever else changes', async () => {
    const { send, apply } = await scene({ ...RATES, spend_limit_usd: 30 });
    await send();
    await apply({ input_per_m_tokens: 5, spend_limit_usd: 18 });
    expect((await send()).status).to.equal(402);
    await apply({ input_per_m_tokens: 5, spend_limit_usd: 18, store_id: 'other' });
    expect((await send()).status).to.equal(200);
  });

  it('gets what a request that began under another configuration cost', async () => {
    const gate = Promise.withResolvers<void>();
    const { send, apply, upstream, spent, reserved } = await scene(RATES, async (_request, response) => {
      await gate.promise;
      replyJson(response, 200, chatReply('x'));
    });
    const pending = send({ max_tokens: 4 });
    await eventually(() => upstream.seen.length === 1);
    await apply({ ...RATES, spend_limit_usd: 5 });
    expect([(await send()).status, reserved()]).to.deep.equal([402, 5e6]);
    gate.resolve();
    expect((await pending).status).to.equal(200);
    expect([spent(), reserved()]).to.deep.equal([18e6, 0]);
  });

  it('forgets who spent least at max_keys, and never who has reached the limit', async () => {
    const { send } = await scene({ ...RATES, spend_limit_usd: 10, max_keys: 1 }, undefined, STAGES, {
      builtins: [withKeys('a', 'b', 'c')],
    });
    for (const key of ['key-a', 'key-b', 'key-c']) expect((await send({}, key)).status).to.equal(200);
    for (const key of ['key-a', 'key-b', 'key-c']) expect((await send({}, key)).status).to.equal(402);
  });
});

describe('budget, over several turns of one request', () => {
  const turns = async (): Promise<{
    ledger: MemoryLedger;
    handlers: PluginHandlers;
    exchange: { -readonly [M in keyof Exchange]: Exchange[M] };
  }> => {
    const ledger = new MemoryLedger({ maxKeys: 0 });
    const settings = {
      ...RATES,
      spend_limit_usd: 20,
      max_keys: 0,
      store_id: 's',
      unpriced: 'warn' as const,
      reserve_tokens: 0,
    };
    const handlers = await budget.create(settings, {
      ledger: () => ledger,
      prices: { longestAnswer: () => undefined },
    } as unknown as PluginDeps);
    const request = { model: 'm', max_tokens: 4, messages: [{ role: 'user', content: 'hi' }] };
    return {
      ledger,
      handlers,
      exchange: {
        surface: 'chat',
        stage: 'before_request',
        principal: { id: 'a' },
        request,
        streaming: false,
        measurements: {},
      } as unknown as Exchange,
    };
  };
  const used = (total: number): Usage => ({ prompt_tokens: total, completion_tokens: 0, total_tokens: total });

  it('counts what the turns before have cost, and bills them when the next is refused', async () => {
    const { ledger, handlers, exchange } = await turns();
    for (const total of [6, 12]) {
      expect(handlers.before_request?.(exchange)).to.equal(undefined);
      exchange.charged = used(total);
    }
    expect([ledger.reserved, ledger.committed('a')]).to.deep.equal([11e6, 0]); // 6 of the turn before, and 5 of this one
    exchange.charged = used(20);
    expect(handlers.before_request?.(exchange)).to.deep.equal({
      action: 'reject',
      reason: 'budget exceeded: spent $0.0000 of $20.00 limit',
    });
    handlers.finished?.(exchange, 'rejected');
    expect([ledger.reserved, ledger.committed('a')]).to.deep.equal([0, 20e6]);
  });

  it('bills the turns before one that fails, and the sum once when all succeed', async () => {
    for (const [outcome, total] of [
      ['error', 12],
      ['success', 12],
    ] as const) {
      const { ledger, handlers, exchange } = await turns();
      for (const sum of [6, total]) {
        void handlers.before_request?.(exchange);
        exchange.charged = used(sum);
      }
      if (outcome === 'success') void handlers.after_request?.(exchange);
      handlers.finished?.(exchange, outcome);
      expect([ledger.reserved, ledger.committed('a')], outcome).to.deep.equal([0, 12e6]);
    }
  });
});

describe('budget, with a ledger that a store supplies', () => {
  /** Answers late, as a database does. */
  class LateLedger implements Ledger {
    readonly memory = new MemoryLedger({ maxKeys: 0 });

    async reserve(key: string, order: ReservationOrder): Promise<Reservation | Refusal> {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      const answered = this.memory.reserve(key, order);
      return answered.isGranted
        ? {
            isGranted: true,
            settle: async (spent) => {
              await answered.settle(spent);
            },
            release: () => answered.release(),
          }
        : answered;
    }

    async commit(key: string, spent: number): Promise<void> {
      this.memory.commit(key, spent);
    }
  }

  it('waits for it before a call, and books before the answer leaves', async () => {
    const opened: string[] = [];
    const ledger = new LateLedger();
    const store = defineBuiltin({
      name: 'test-ledgers',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('test-ledgers', async ({ stores }) =>
          stores.ledgers.supply('sqlite', {
            open: (name, { maxKeys }) => {
              opened.push(`${name} ${maxKeys}`);
              return ledger;
            },
            peek: () => NOTHING_SPENT,
          }),
        ),
    });
    const { send, apply } = await scene(
      { ...RATES, spend_limit_usd: 20, store_id: 'team', max_keys: 7 },
      undefined,
      STAGES,
      { builtins: [withKeys('a'), store] },
    );
    expect((await send()).status).to.equal(200);
    expect(ledger.memory.committed('a')).to.equal(18e6);
    await apply({ ...RATES, spend_limit_usd: 30, store_id: 'team', max_keys: 8 });
    expect((await send()).status).to.equal(200);
    expect(refusal(await send())).to.deep.equal(refused('spent $36.0000 of $30.00 limit'));
    expect([opened.filter((name) => name.startsWith('budget ')), ledger.memory.reserved]).to.deep.equal([
      ['budget team 7'],
      0,
    ]);
  });
});
