import Joi from 'joi';
import {
  catalogPricing,
  definePlugin,
  type Exchange,
  flatPricing,
  type PluginDeps,
  type PluginHandlers,
  type Rates,
  reject,
  Spending,
  type Stage,
  type StageProblem,
  type Surface,
  type Unpriced,
  type Verdict,
} from 'gw/contract';

interface Settings extends Rates {
  readonly spend_limit_usd: number;
  readonly max_keys: number;
  readonly store_id: string;
  readonly reserve_tokens?: number;
  readonly unpriced: Unpriced;
}

const RATES = [
  'input_per_m_tokens',
  'output_per_m_tokens',
  'cache_read_per_m_tokens',
  'cache_write_per_m_tokens',
] as const;

/** Surfaces whose use is not counted in tokens. */
const TOKENLESS: ReadonlySet<Surface> = new Set([
  'images',
  'images.edits',
  'audio.speech',
  'audio.transcriptions',
  'audio.translations',
]);

const amount = (meaning: string): Joi.NumberSchema =>
  Joi.number().unsafe().min(0).meta({ rule: 'BV05' }).description(meaning);

/** Rates that are written and all 0 make every call free: a limit would never be reached. */
const limitThatHolds: Joi.CustomValidator<number> = (limit, helpers) => {
  const written = RATES.map(
    (name) => (helpers.state.ancestors as readonly Readonly<Record<string, unknown>>[])[0]?.[name],
  ).filter((rate) => rate !== undefined);
  const isFree = limit > 0 && written.length > 0 && written.every((rate) => rate === 0);
  return isFree
    ? helpers.message({
        custom: '{{#label}} can never be reached while all rates are 0; leave the rates out for catalog prices',
      })
    : limit;
};

/** Refuses requests of a credential that has spent its limit; reserves what a call may cost before it, and books what it did cost after it. */
export default definePlugin<Settings>({
  name: 'budget',
  type: 'ratelimit',
  rejectsAs: 'insufficient_quota',
  summary: 'Caps what each key may spend in US dollars',
  stages: ['before_request', 'after_request', 'on_error'],
  settings: Joi.object<Settings, true>({
    spend_limit_usd: amount(
      'what each credential may spend, in US dollars; 0 means no limit, and spend is still counted',
    )
      .custom(limitThatHolds)
      .default(0),
    input_per_m_tokens: amount(
      "US dollars per million prompt tokens; unset, nothing, or the catalog's price where no rate is set",
    ),
    output_per_m_tokens: amount(
      "US dollars per million completion tokens; unset, nothing, or the catalog's price where no rate is set",
    ),
    cache_read_per_m_tokens: amount(
      "US dollars per million prompt tokens read from the provider's cache; unset, they cost what the others do",
    ),
    cache_write_per_m_tokens: amount(
      "US dollars per million tokens written to the provider's cache; unset, those that the prompt counts cost what it does",
    ),
    max_keys: amount('most credentials that are remembered; 0 means no limit').integer().default(10_000),
    store_id: Joi.string()
      .default('default')
      .description('name of the ledger: what is spent goes on over configuration changes that keep it'),
    reserve_tokens: Joi.number()
      .integer()
      .min(0)
      .description(
        'completion tokens reserved for a request without a ceiling; unset, what the model can answer, up to 4096',
      ),
    unpriced: Joi.string()
      .valid('refuse', 'warn', 'allow')
      .default('warn')
      .meta({ rule: 'BV06' })
      .description(
        'a model without a price: `warn` serves it and logs it once a day, `allow` serves it, `refuse` answers 400',
      ),
  }),
  unlistedSettings: ['reserve_tokens', 'unpriced'],
  readsUsage: () => true,
  checkStages,
  create: budget,
});

function checkStages(stages: readonly Stage[]): StageProblem | undefined {
  const missing = (['before_request', 'after_request'] as const).filter((stage) => !stages.includes(stage));
  if (missing.length === 0) return undefined;
  return {
    message: `must be listed at before_request and after_request; ${missing.join(' and ')} is missing`,
    fix: `list it at ${missing.join(' and ')} too`,
  };
}

function budget(settings: Settings, deps: PluginDeps): PluginHandlers {
  const pricing = RATES.some((name) => settings[name] !== undefined)
    ? flatPricing(settings)
    : catalogPricing(deps.prices);
  const spending = new Spending(
    deps.ledger(`budget ${settings.store_id}`, { maxKeys: settings.max_keys }),
    pricing,
    deps.prices,
  );
  return {
    before_request: (exchange) => admit(exchange, settings, spending),
    after_request: (exchange) =>
      exchange.answeredBy === undefined ? spending.book(exchange) : spending.release(exchange),
    /** Listed here, what a failed request used is booked as well. */
    on_error: (exchange) => (exchange.charged ? spending.book(exchange) : undefined),
    /** What neither of them has booked. */
    finished: (exchange, outcome) => spending.finish(exchange, outcome === 'success'),
  };
}

/** Under written rates a token costs the same of every model, and what is not counted in tokens has no price. */
function needsPrice(settings: Settings, { surface }: Exchange): boolean {
  return RATES.every((name) => settings[name] === undefined) || TOKENLESS.has(surface);
}

function admit(
  exchange: Exchange,
  settings: Settings,
  spending: Spending,
): Verdict | undefined | Promise<Verdict | undefined> {
  const key = exchange.principal?.id;
  if (key === undefined) return undefined;
  if (needsPrice(settings, exchange)) exchange.needsPrice(settings.unpriced, 'this budget');
  const refused = (reason: string | undefined): Verdict | undefined =>
    reason === undefined ? undefined : reject(reason);
  const { spend_limit_usd: limitUsd, reserve_tokens: reserveTokens } = settings;
  const answer = spending.admit(exchange, { key, limitUsd: limitUsd === 0 ? undefined : limitUsd, reserveTokens });
  return answer instanceof Promise ? answer.then(refused) : refused(answer);
}
