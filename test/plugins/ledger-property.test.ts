import { expect } from 'chai';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import {
  ask,
  cases,
  chatReply,
  Dice,
  eventually,
  openSse,
  replyJson,
  sseEvent,
  startHost,
  stubUpstream,
  type StubHandler,
  type TestHost,
} from '../kit/index.ts';
import { withKeys } from './kit.ts';

/**
 * Random requests of several credentials at once, with retries, cached tokens, broken and abandoned answers and configuration
 * changes, before an upstream that keeps an invoice of its own. What the ledger holds at the end must be the invoice.
 */
const PATH = '/v1/chat/completions';
const KEYS = ['a', 'b', 'c'];
/** Micro-dollars per token, with parts of one. */
const RATES = {
  input_per_m_tokens: 0.15,
  output_per_m_tokens: 0.6,
  cache_read_per_m_tokens: 0.075,
  cache_write_per_m_tokens: 0.3,
};
const MOST_TOKENS = 40;

interface Plan {
  readonly key: string;
  readonly stream: boolean;
  readonly prompt: string;
  readonly ceiling: number;
  /** What the upstream does at the first try and at the second. */
  readonly tries: readonly ('answer' | 'fail' | 'break')[];
  readonly usage: {
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly total_tokens: number;
    readonly cache_read_tokens: number;
    readonly cache_write_tokens: number;
  };
  /** The client leaves after its first bytes. */
  readonly leaves: boolean;
}

/** As the plugin prices it, in whole millionths of a micro-dollar. */
function costOf({
  usage: { prompt_tokens: prompt, completion_tokens: completion, cache_read_tokens: read, cache_write_tokens: written },
}: Plan): number {
  const {
    input_per_m_tokens: input,
    output_per_m_tokens: output,
    cache_read_per_m_tokens: cacheRead,
    cache_write_per_m_tokens: cacheWrite,
  } = RATES;
  return Math.round(
    (input * Math.max(0, prompt - read) + output * completion + cacheRead * read + cacheWrite * written) * 1e6,
  );
}

/** What it may cost at most, in micro-dollars: no more than was reserved. */
const reservationOf = ({ prompt, ceiling }: Plan): number =>
  RATES.input_per_m_tokens * (Math.floor(prompt.length / 4) + 1) + RATES.output_per_m_tokens * ceiling;

/** Calm requests are neither broken nor left. */
function planOf(dice: Dice, isCalm: boolean): Plan {
  const prompt = 'word '.repeat(1 + dice.below(MOST_TOKENS));
  const ceiling = 1 + dice.below(MOST_TOKENS);
  const prompt_tokens = 1 + dice.below(Math.floor(prompt.length / 4));
  const completion_tokens = dice.below(ceiling + 1);
  const stream = dice.below(2) === 0;
  const usage = {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    cache_read_tokens: dice.below(2) * dice.below(prompt_tokens + 1),
    cache_write_tokens: 0,
  };
  return {
    key: dice.pick(KEYS),
    stream,
    prompt,
    ceiling,
    usage,
    tries: [0, 1].map(() =>
      dice.pick(['answer', 'answer', 'answer', 'fail', ...(stream && !isCalm ? ['break' as const] : [])]),
    ),
    leaves: !isCalm && dice.below(6) === 0,
  };
}

/** Answers by the plan that the request names, and books what it answered whole. */
function invoicing(plans: readonly Plan[], invoice: Map<number, number>, dice: Dice): StubHandler {
  const tries = new Map<number, number>();
  return async (seen, response) => {
    const index = Number(seen.json()['seed']);
    const plan = plans[index] as Plan;
    const time = tries.get(index) ?? 0;
    tries.set(index, time + 1);
    for (let turn = dice.below(4); turn > 0; turn -= 1)
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    const what = plan.tries[time] ?? 'answer';
    if (what === 'fail') {
      replyJson(response, 500, { error: { message: 'no' } });
      return;
    }
    if (what === 'answer') invoice.set(index, costOf(plan));
    if (!plan.stream) {
      replyJson(response, 200, chatReply('text', { usage: plan.usage }));
      return;
    }
    openSse(response);
    response.write(sseEvent({ id: 'c', choices: [{ index: 0, delta: { content: 'x' }, finish_reason: null }] }));
    if (plan.leaves)
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    response.end(
      what === 'break'
        ? sseEvent({ error: { message: 'broken' } })
        : [
            { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
            { id: 'c', choices: [], usage: plan.usage },
            '[DONE]',
          ]
            .map(sseEvent)
            .join(''),
    );
  };
}

/** Whether it got a whole answer. */
async function send(host: TestHost, plan: Plan, index: number): Promise<'whole' | 'refused' | 'failed'> {
  const leaving = new AbortController();
  try {
    const response = await fetch(`${host.url}${PATH}`, {
      method: 'POST',
      signal: leaving.signal,
      headers: { authorization: `Bearer key-${plan.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(ask(plan.prompt, { max_tokens: plan.ceiling, stream: plan.stream, seed: index })),
    });
    if (response.status === 402) return 'refused';
    if (plan.leaves && plan.stream) {
      await response.body?.getReader().read();
      leaving.abort();
      return 'failed';
    }
    const text = await response.text();
    return response.status === 200 && !text.includes('"error"') ? 'whole' : 'failed';
  } catch {
    return 'failed';
  }
}

function ledgerOf({ host }: TestHost): MemoryLedger {
  const carryover = host.carryover.open();
  const found = carryover.lease<MemoryLedger>('ledger budget property', () => {
    throw new Error('there is no ledger');
  });
  void carryover.release();
  return found;
}

describe('what budget books', () => {
  for (let seed = 1; seed <= cases(60); seed += 1) {
    it(`is the upstream's invoice, within the limit, and nothing stays reserved: seed ${seed}`, async () => {
      const dice = new Dice(seed);
      const plans = Array.from({ length: 60 }, () => planOf(dice, seed % 2 === 1));
      const invoice = new Map<number, number>();
      const upstream = await stubUpstream(invoicing(plans, invoice, dice));
      const limitUsd = dice.pick([0, 50, 200, 400]) / 1e6;
      const config = (version: number): object => ({
        targets: [upstream.target('a', { retry: { attempts: 2, initial_backoff_ms: 1 } })],
        plugins: ['before_request', 'after_request'].map((stage) => ({
          name: 'budget',
          stage,
          enabled: true,
          config: { ...RATES, spend_limit_usd: limitUsd, store_id: 'property', reserve_tokens: version },
        })),
      });
      const host = await startHost(config(0), { builtins: [withKeys(...KEYS)] });
      const ends: Awaited<ReturnType<typeof send>>[] = [];
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let index = next++; index < plans.length; index = next++) {
          if (index % 20 === 19) await host.apply(config(index));
          ends[index] = await send(host, plans[index] as Plan, index);
        }
      };
      await Promise.all(Array.from({ length: 1 + dice.below(12) }, worker));

      const ledger = ledgerOf(host);
      await eventually(() => host.host.slot.leases === 0 && ledger.reserved === 0);
      for (const key of KEYS) {
        const own = [...plans.entries()].filter(([, plan]) => plan.key === key);
        const whole = own
          .filter(([index]) => ends[index] === 'whole')
          .reduce((sum, [index]) => sum + (invoice.get(index) ?? Number.NaN), 0);
        const cut = own.filter(
          ([index, plan]) => ends[index] === 'failed' && plan.stream && (plan.leaves || plan.tries.includes('break')),
        );
        const most = cut.reduce((sum, [, plan]) => sum + reservationOf(plan) * 1e6, whole);
        const committed = ledger.committed(key);
        if (cut.length === 0) expect(committed, `key ${key}`).to.equal(Math.floor(whole / 1e6));
        else expect(committed, `key ${key}`).to.be.within(Math.floor(whole / 1e6), Math.ceil(most / 1e6));
        const largest = Math.max(0, ...own.map(([, plan]) => reservationOf(plan)));
        if (limitUsd > 0) expect(committed, `key ${key}`).to.be.below(limitUsd * 1e6 + largest);
      }
      expect(ends.some((end) => end === 'whole')).to.equal(true);
      if (limitUsd === 0) expect(ends.includes('refused')).to.equal(false);
    });
  }
});
