/** What an answer is charged for: what its vendor reports as far as it can be believed, an estimate for the rest. */
import { type Billed, BILLED, cacheWritesIn, type Surface, type Usage, withFacts } from '../contract/index.ts';
import { tokensOf } from '../contract/money/pricing.ts';
import { MOST_TOKENS } from '../contract/money/usage.ts';

/** What is known of one answer. */
export interface AnswerFacts extends Billed {
  /** Characters of its texts that arrived: what is charged where nothing was reported. */
  readonly answered?: number | undefined;
  /** It ended early: what was reported of it until then may not be all. */
  readonly isBroken?: boolean | undefined;
  /** What it is billed by beside tokens was guessed. */
  readonly isGuessed?: boolean | undefined;
  /** Names of sums that were reported in a form that is none. */
  readonly doubts?: readonly string[] | undefined;
}

/** Tokens of a prompt that was not counted, and the most that its answer can have. */
export interface Guess {
  readonly prompt: () => number;
  readonly longestAnswer: () => number;
}

export interface Charge {
  /** `undefined` where nothing counts in tokens. */
  readonly usage: Usage | undefined;
  readonly isEstimated: boolean;
  /** The first count that is not believed, by its name. */
  readonly doubt: string | undefined;
}

/** Surfaces whose answers are charged in tokens where they report none; those of images and sound are charged by other classes. */
const COUNTED: ReadonlySet<Surface> = new Set([
  'chat',
  'completions',
  'messages',
  'generate_content',
  'responses.translated',
  'responses',
  'embeddings',
  'rerank',
]);

/**
 * The charge of an answer in tokens. Guesses are asked for only where the vendor says nothing of what they are of. A sum that is not
 * believed is estimated, both are where nothing was counted; a part larger than its whole is cut to it.
 */
export function chargeOf(surface: Surface, facts: AnswerFacts, guess: Guess): Charge {
  const { usage, isBroken = false, doubts = NONE } = facts;
  if (usage && !isBroken && doubts.length === 0 && isPlain(usage))
    return { usage, isEstimated: false, doubt: undefined };
  return usage || COUNTED.has(surface) ? estimated(facts, guess) : NOTHING;
}

const NONE: readonly string[] = [];
const NOTHING: Charge = { usage: undefined, isEstimated: false, doubt: undefined };

/** Whether everything that was reported can be charged as it is. */
function isPlain(usage: Usage): boolean {
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: total,
    cache_read_tokens: read = 0,
    cache_write_tokens: written = 0,
    reasoning_tokens: reasoned = 0,
  } = usage;
  return (
    prompt + completion + written > 0 &&
    prompt <= MOST_TOKENS &&
    completion <= MOST_TOKENS &&
    written <= MOST_TOKENS &&
    read <= prompt &&
    reasoned <= completion &&
    total >= prompt + completion &&
    total <= 2 * MOST_TOKENS
  );
}

function estimated({ usage, answered = 0, isBroken = false, doubts = NONE }: AnswerFacts, guess: Guess): Charge {
  const { prompt_tokens: prompt = 0, completion_tokens: completion = 0, cache_write_tokens: written = 0 } = usage ?? {};
  const doubt = doubts[0] ?? (usage && beyondBelief(usage));
  const isCounted = prompt + completion + written > 0;
  const isPromptKnown =
    isCounted && prompt <= MOST_TOKENS && !doubts.includes('prompt_tokens') && (prompt + written > 0 || !isBroken);
  const delivered = Math.min(tokensOf(answered), guess.longestAnswer());
  const isAnswerKnown =
    isCounted &&
    completion <= MOST_TOKENS &&
    !doubts.includes('completion_tokens') &&
    !(isBroken && completion < delivered);
  const sums = {
    prompt_tokens: isPromptKnown ? prompt : guess.prompt(),
    completion_tokens: isAnswerKnown ? completion : delivered,
  };
  return {
    usage: {
      ...sums,
      total_tokens: sums.prompt_tokens + sums.completion_tokens,
      ...(usage && partsOf(usage, sums, isPromptKnown)),
      ...(usage?.[BILLED] && { [BILLED]: usage[BILLED] }),
    },
    isEstimated: !isPromptKnown || !isAnswerKnown,
    doubt,
  };
}

const CLASSES = [
  'prompt_tokens',
  'completion_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
] as const;

const beyondBelief = (usage: Usage): string | undefined => CLASSES.find((name) => (usage[name] ?? 0) > MOST_TOKENS);

/** Parts of the sums that are charged at prices of their own; what is not believed counts as absent. */
function partsOf(
  usage: Usage,
  { prompt_tokens: prompt, completion_tokens: completion }: Pick<Usage, 'prompt_tokens' | 'completion_tokens'>,
  isPromptKnown: boolean,
): Partial<Usage> {
  const part = (count = 0, whole = MOST_TOKENS): number => (count <= MOST_TOKENS ? Math.min(count, whole) : 0);
  const parts = {
    cache_read_tokens: isPromptKnown ? part(usage.cache_read_tokens, prompt) : 0,
    cache_write_tokens: part(usage.cache_write_tokens),
    reasoning_tokens: part(usage.reasoning_tokens, completion),
  };
  const inside = isPromptKnown ? cacheWritesIn(usage) : 0;
  return {
    ...Object.fromEntries(Object.entries(parts).filter(([, count]) => count > 0)),
    ...(inside > 0 && { prompt_tokens_details: { cache_write_tokens: inside } }),
  };
}

/** Notes the tier of service that an answer names beside its usage. What costs the usual price needs no note. */
export function withTier(usage: Usage, tier: unknown): Usage {
  return typeof tier === 'string' && tier !== '' && tier !== 'default' ? withFacts(usage, { tier }) : usage;
}
