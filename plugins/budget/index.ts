import Joi from 'joi';
import { definePlugin, type Exchange, type ExchangeOutcome, ExchangeNote, type Ledger, type PluginDeps, type PluginHandlers, type Refusal, reject, type Reservation, type Stage, type StageProblem, type Verdict } from 'gw/contract';
import { catalogPricing, ceilingOf, deliveredTokens, flatPricing, type Pricing, promptTokens, type Rates } from './pricing.ts';

interface Settings extends Rates {
  readonly spend_limit_usd: number;
  readonly max_keys: number;
  readonly store_id: string;
  readonly reserve_tokens: number;
}

const RATES = ['input_per_m_tokens', 'output_per_m_tokens', 'cache_read_per_m_tokens', 'cache_write_per_m_tokens'] as const;

const amount = (): Joi.NumberSchema => Joi.number().unsafe().min(0).meta({ rule: 'BV05' });

/** Rates that are written and all 0 make every call free: a limit would never be reached. */
const limitThatHolds: Joi.CustomValidator<number> = (limit, helpers) => {
  const written = RATES.map((name) => (helpers.state.ancestors as readonly Readonly<Record<string, unknown>>[])[0]?.[name]).filter((rate) => rate !== undefined);
  const isFree = limit > 0 && written.length > 0 && written.every((rate) => rate === 0);
  return isFree ? helpers.message({ custom: '{{#label}} can never be reached while all rates are 0; leave the rates out for catalog prices' }) : limit;
};

/** Refuses requests of a credential that has spent its limit; reserves what a call may cost before it, and books what it did cost after it. */
export default definePlugin<Settings>({
  name: 'budget',
  type: 'ratelimit',
  rejectsAs: 'insufficient_quota',
  summary: 'Caps what each key may spend in US dollars',
  stages: ['before_request', 'after_request', 'on_error'],
  settings: Joi.object<Settings, true>({
    spend_limit_usd: amount().custom(limitThatHolds).default(0),
    input_per_m_tokens: amount(),
    output_per_m_tokens: amount(),
    cache_read_per_m_tokens: amount(),
    cache_write_per_m_tokens: amount(),
    max_keys: amount().integer().default(10_000),
    store_id: Joi.string().default('default'),
    reserve_tokens: Joi.number().integer().min(0).default(0),
  }),
  unlistedSettings: ['reserve_tokens'],
  checkStages,
  create: budget,
});

function checkStages(stages: readonly Stage[]): StageProblem | undefined {
  const missing = (['before_request', 'after_request'] as const).filter((stage) => !stages.includes(stage));
  if (missing.length === 0) return undefined;
  return { message: `must be listed at before_request and after_request; ${missing.join(' and ')} is missing`, fix: `list it at ${missing.join(' and ')} too` };
}

/** What a call holds while it is in flight. */
interface Held {
  readonly reservation: Reservation;
  readonly promptTokens: number;
  /** How often it has asked: more than once where its answer calls for tools. */
  readonly turn: number;
}

function budget(settings: Settings, deps: PluginDeps): PluginHandlers {
  const pricing = RATES.some((name) => settings[name] !== undefined) ? flatPricing(settings) : catalogPricing(deps.prices);
  const ledger = deps.ledger(`budget ${settings.store_id}`, { maxKeys: settings.max_keys });
  const inFlight = new ExchangeNote<Held>();
  return {
    before_request: (exchange) => admit(exchange, { settings, pricing, ledger, inFlight }),
    after_request: (exchange) => {
      const held = inFlight.take(exchange);
      if (exchange.answeredBy === undefined) return held?.reservation.settle(pricing.reported(exchange));
      held?.reservation.release(); // nobody was called
      return undefined;
    },
    /** Listed here, what a failed request used is booked as well. */
    on_error: (exchange) => (exchange.usage ? inFlight.take(exchange)?.reservation.settle(pricing.reported(exchange)) : undefined),
    finished: (exchange, outcome) => {
      const held = inFlight.take(exchange);
      if (held) end(exchange, outcome, held, pricing);
    },
  };
}

interface Tools {
  readonly settings: Settings;
  readonly pricing: Pricing;
  readonly ledger: Ledger;
  readonly inFlight: ExchangeNote<Held>;
}

/** A credential's first turn, and each further one of an answer that calls for tools: what the turns before it cost counts there. */
function admit(exchange: Exchange, { settings, pricing, ledger, inFlight }: Tools): Verdict | undefined | Promise<Verdict | undefined> {
  const key = exchange.principal?.id;
  if (key === undefined) return undefined;
  const { spend_limit_usd: limitUsd, reserve_tokens } = settings;
  const earlier = inFlight.take(exchange);
  earlier?.reservation.release();
  const running = earlier ? pricing.reported(exchange) : 0;
  const prompt = promptTokens(exchange);
  const expected = exchange.answeredBy === undefined ? pricing.expected(exchange, { prompt, completion: ceilingOf(exchange, reserve_tokens) }) : 0;
  const decide = (answer: Reservation | Refusal): Verdict | undefined => {
    if (answer.isGranted) {
      inFlight.put(exchange, { reservation: answer, promptTokens: prompt, turn: (earlier?.turn ?? 0) + 1 });
      return undefined;
    }
    if (running > 0) void ledger.commit(key, running);
    return reject(`budget exceeded: spent $${(answer.committed / 1e6).toFixed(4)} of $${limitUsd.toFixed(2)} limit`);
  };
  const answer = ledger.reserve(key, { amount: running + expected, limit: limitUsd === 0 ? undefined : Math.max(1, Math.round(limitUsd * 1e6)), running });
  return answer instanceof Promise ? answer.then(decide) : decide(answer);
}

/** What neither `after_request` nor `on_error` has booked. A stream that was delivered in part was paid for; what failed before was not. */
function end(exchange: Exchange, outcome: ExchangeOutcome, { reservation, promptTokens: prompt, turn }: Held, pricing: Pricing): void {
  const isDelivered = exchange.streaming && exchange.measurements.ttftMs !== undefined;
  if (exchange.usage && (isDelivered || outcome === 'success' || turn > 1)) void reservation.settle(pricing.reported(exchange));
  else if (isDelivered) void reservation.settle(pricing.delivered(exchange, { prompt, completion: deliveredTokens(exchange) }));
  else reservation.release();
}
