import { type CallInfo, type ChatRequest, EFFORTS, nearestEffort } from 'gw/contract';
import { type Fields, isFields, isGiven } from 'gw/common-wire';
import { boundedBudget } from '../_common/model-limits.ts';
import { type ThinkingTraits, thinkingTraits } from './models.ts';

export interface ThinkingPlan {
  /** The body's `generationConfig.thinkingConfig`. */
  readonly config?: Fields | undefined;
  readonly ignored: readonly string[];
}

const WORDS: ReadonlySet<unknown> = new Set(EFFORTS);
/** Tokens per effort where a model takes a budget. Source: ai.google.dev, "OpenAI compatibility", 2026-11-21. */
const BUDGETS: ReadonlyMap<string, number> = new Map([
  ['none', 0],
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
  ['xhigh', 32_768],
  ['max', 32_768],
]);

/** The caller's wish for reasoning, as `reasoning_effort` or `thinking`, in the form the model takes. */
export function planThinking(
  { reasoning_effort: effort, thinking }: ChatRequest,
  call: Pick<CallInfo, 'facts'>,
): ThinkingPlan {
  const traits = thinkingTraits(call);
  if (isGiven(effort)) {
    const plan =
      typeof effort === 'string' && WORDS.has(effort)
        ? planEffort(effort, traits, 'reasoning_effort')
        : { ignored: ['reasoning_effort'] };
    return isGiven(thinking) ? { ...plan, ignored: [...plan.ignored, 'thinking'] } : plan;
  }
  if (!isGiven(thinking)) return { ignored: [] };
  return isFields(thinking) ? planGiven(thinking, traits) : { ignored: ['thinking'] };
}

/** `{type: 'enabled', budget_tokens}`, `{type: 'adaptive'}` or `{type: 'disabled'}`. */
function planGiven({ type, budget_tokens: budget }: Fields, traits: ThinkingTraits): ThinkingPlan {
  if (type === 'disabled') return planEffort('none', traits, 'thinking');
  const isAdaptive = type === 'adaptive' || (type === 'enabled' && !isGiven(budget));
  if (traits.style === 'none' || (!isAdaptive && (type !== 'enabled' || typeof budget !== 'number' || budget <= 0)))
    return { ignored: ['thinking'] };
  if (traits.style === 'level') {
    const level = isAdaptive ? {} : { thinkingLevel: levelFor(effortFor(Number(budget)), traits) };
    return { config: { ...level, includeThoughts: true }, ignored: [] };
  }
  return {
    config: {
      thinkingBudget: isAdaptive ? -1 : boundedBudget(Math.floor(Number(budget)), traits.budget),
      includeThoughts: true,
    },
    ignored: [],
  };
}

/** `none` is reported where the model cannot be kept from thinking; it then thinks as little as it can. */
function planEffort(effort: string, traits: ThinkingTraits, field: string): ThinkingPlan {
  if (traits.style === 'none') return { ignored: effort === 'none' ? [] : [field] };
  const includeThoughts = effort !== 'none';
  if (traits.style === 'budget') {
    const budget = boundedBudget(BUDGETS.get(effort) ?? 0, traits.budget);
    return {
      config: { thinkingBudget: budget, includeThoughts },
      ignored: !includeThoughts && budget > 0 ? [field] : [],
    };
  }
  const isLeft = !includeThoughts && !traits.stops;
  return { config: { thinkingLevel: levelFor(effort, traits), includeThoughts }, ignored: isLeft ? [field] : [] };
}

/** The level of an effort, as the vendor writes it: the least that is not below it, else the highest. */
const levelFor = (effort: string, { levels }: ThinkingTraits): string =>
  (nearestEffort(effort, levels).effort ?? 'high').toUpperCase();

/** The least effort whose budget is not smaller. */
function effortFor(budget: number): string {
  return ['low', 'medium', 'high'].find((effort) => (BUDGETS.get(effort) ?? 0) >= budget) ?? 'high';
}
