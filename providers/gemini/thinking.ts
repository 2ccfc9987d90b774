import type { ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven } from 'gw/common-wire';
import { type ThinkingTraits, thinkingTraits } from './models.ts';

export interface ThinkingPlan {
  /** The body's `generationConfig.thinkingConfig`. */
  readonly config?: Fields | undefined;
  readonly ignored: readonly string[];
}

/** Efforts, least first. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];
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
export function planThinking({ reasoning_effort: effort, thinking }: ChatRequest, model: string): ThinkingPlan {
  const traits = thinkingTraits(model);
  if (isGiven(effort)) {
    const plan =
      typeof effort === 'string' && EFFORTS.includes(effort)
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
    const level = isAdaptive
      ? {}
      : { thinkingLevel: nearestLevel(nearestEffort(Number(budget)), traits).toUpperCase() };
    return { config: { ...level, includeThoughts: true }, ignored: [] };
  }
  return {
    config: { thinkingBudget: isAdaptive ? -1 : clamp(Math.floor(Number(budget)), traits), includeThoughts: true },
    ignored: [],
  };
}

/** `none` is reported where the model cannot be kept from thinking; it then thinks as little as it can. */
function planEffort(effort: string, traits: ThinkingTraits, field: string): ThinkingPlan {
  if (traits.style === 'none') return { ignored: effort === 'none' ? [] : [field] };
  const includeThoughts = effort !== 'none';
  if (traits.style === 'budget') {
    const budget = clamp(BUDGETS.get(effort) ?? 0, traits);
    return {
      config: { thinkingBudget: budget, includeThoughts },
      ignored: !includeThoughts && budget > 0 ? [field] : [],
    };
  }
  const level = nearestLevel(effort, traits);
  return {
    config: { thinkingLevel: level.toUpperCase(), includeThoughts },
    ignored: !includeThoughts && level !== 'minimal' ? [field] : [],
  };
}

/** The least level that is not below the effort, else the highest. */
function nearestLevel(effort: string, { levels }: ThinkingTraits): string {
  return levels.find((level) => EFFORTS.indexOf(level) >= EFFORTS.indexOf(effort)) ?? levels.at(-1) ?? 'high';
}

/** The least effort whose budget is not smaller. */
function nearestEffort(budget: number): string {
  return ['low', 'medium', 'high'].find((effort) => (BUDGETS.get(effort) ?? 0) >= budget) ?? 'high';
}

const clamp = (budget: number, { budget: [least, most] }: ThinkingTraits): number =>
  Math.min(Math.max(budget, least), most);
