import { expect } from 'chai';
import type { MemoryLedger } from '../../host/state/memory-ledger.ts';
import { ask, cases, Dice, eventually, startHost, stubUpstream, type TestHost } from '../kit/index.ts';
import { type End, ENDS, type Invoice, type Plan, planOf, vendor } from './vendor.ts';

/** Models with prices that are exact in micro-dollars, one of each wire. */
const MODELS = [
  { provider: 'openai', model: 'gpt-4o', input: 2.5, output: 10 },
  { provider: 'anthropic', model: 'claude-sonnet-4-5', input: 3, output: 15 },
  { provider: 'gemini', model: 'gemini-2.5-flash', input: 0.3, output: 2.5 },
] as const;
type Model = (typeof MODELS)[number];

interface Door {
  readonly name: string;
  readonly isWholeOnly?: true;
  readonly path: (model: string, stream: boolean) => string;
  readonly body: (model: string, prompt: string, stream: boolean) => object;
}

const DOORS: readonly Door[] = [
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (model, prompt, stream) => ({ ...ask(prompt, { stream }), model }),
  },
  {
    name: 'completions',
    isWholeOnly: true,
    path: () => '/v1/completions',
    body: (model, prompt, stream) => ({ model, prompt, stream }),
  },
  {
    name: 'messages',
    path: () => '/v1/messages',
    body: (model, prompt, stream) => ({
      model,
      max_tokens: 9000,
      stream,
      messages: [{ role: 'user', content: prompt }],
    }),
  },
  {
    name: 'gemini',
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (_model, prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  },
  {
    name: 'responses',
    path: () => '/v1/responses',
    body: (model, prompt, stream) => ({ model, input: prompt, stream }),
  },
];

const PLUGINS: Readonly<Record<string, readonly object[]>> = {
  'no plugin': [],
  'a logger': ['before_request', 'after_request', 'on_error'].map((stage) => ({
    name: 'request-logger',
    stage,
    enabled: true,
  })),
  'a guardrail': ['before_request', 'after_request'].map((stage) => ({
    name: 'word-filter',
    stage,
    enabled: true,
    config: { blocked_words: ['nothing like it'], stream: 'window' },
  })),
};

function committed({ host }: TestHost, key: string): number {
  const carryover = host.carryover.open();
  const ledger = carryover.lease<MemoryLedger>('ledger key budgets', () => {
    throw new Error('there is no ledger');
  });
  void carryover.release();
  return ledger.committed(key);
}

/** Reads all of an answer; one that is to be left, until some of it is there. */
async function readAnswer(url: string, bearer: string, body: object, end: End, stream: boolean): Promise<number> {
  const leaving = new AbortController();
  const response = await fetch(url, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (stream && end === 'left') {
    await response.body?.getReader().read();
    leaving.abort();
  } else await response.text().catch(() => '');
  return response.status;
}

/** Micro-dollars of the least and the most that may be booked: what the vendor reports is exact, a guess is between these. */
function bounds(
  plan: Plan,
  { input, output }: Model,
  stream: boolean,
  promptLength: number,
  sent: number,
): readonly [least: number, most: number] {
  const isReported = plan.end === 'reported';
  if (isReported) {
    const exact = plan.prompt * input + plan.completion * output;
    return [Math.floor(exact), Math.floor(exact)];
  }
  const guessed = promptLength / 4;
  const [least, most] = [Math.min(plan.prompt, guessed), Math.max(plan.prompt, guessed + 60)]; // of some wires the first event tells the prompt
  return [Math.floor(least * input), Math.ceil(most * input + ((stream ? sent : sent + 40) / 4) * output) + 1];
}

describe('what is booked on a key', () => {
  for (const [what, plugins] of Object.entries(PLUGINS))
    for (let seed = 1; seed <= cases(10); seed += 1) {
      it(`is the vendor's invoice, or a guess near it, by every door, on every wire, however it ends, with ${what}: seed ${seed}`, async function everyDoor() {
        this.timeout(120_000);
        const dice = new Dice(seed);
        const plans = new Map<number, Plan>();
        const invoices = new Map<number, Invoice>();
        const upstream = await stubUpstream(vendor(plans, invoices));
        const t = await startHost(
          {
            strategy: { mode: 'fallback' },
            responses: { translate: 'auto' },
            targets: MODELS.map(({ provider, model }) => ({ virtual_key: provider, models: [model] })),
            plugins,
          },
          {
            variables: {
              OPENAI_API_KEY: 'k-0123456789',
              OPENAI_BASE_URL: `${upstream.url}/v1`,
              ANTHROPIC_API_KEY: 'k-0123456789',
              ANTHROPIC_BASE_URL: `${upstream.url}/v1`,
              GEMINI_API_KEY: 'k-0123456789',
              GEMINI_BASE_URL: `${upstream.url}/v1beta`,
            },
          },
        );
        let number = 0;
        for (const door of DOORS)
          for (const model of MODELS)
            for (const stream of [false, true])
              for (const end of ENDS) {
                if (stream ? door.isWholeOnly : end === 'left' || end === 'cut') continue;
                number += 1;
                const plan = planOf(dice, end, end === 'left' && door.name !== 'chat' ? ['content'] : undefined);
                plans.set(number, plan);
                const {
                  key,
                  record: { id },
                } = await t.host.stores.keys.create({
                  name: `k${number}`,
                  scopes: ['read_only'],
                  limits: { budget_usd: 100 },
                });
                const prompt = `plan ${number}. ${'tell me more. '.repeat(dice.below(50))}`;
                const status = await readAnswer(
                  `${t.url}${door.path(model.model, stream)}`,
                  key,
                  door.body(model.model, prompt, stream),
                  end,
                  stream,
                );
                const [least, most] = bounds(plan, model, stream, prompt.length, invoices.get(number)?.sent ?? 0);
                const label = `${number}: ${door.name} to ${model.provider}, ${stream ? 'streamed' : 'whole'}, ${end}, ${plan.kind}`;
                expect(status, label).to.equal(200);
                await eventually(() => t.host.slot.leases === 0);
                expect(committed(t, id), label).to.be.within(least, most);
                if (end !== 'reported') expect(committed(t, id), `${label}: not free`).to.be.greaterThan(0);
              }
      });
    }
});
