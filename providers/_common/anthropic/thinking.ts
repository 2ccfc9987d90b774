import type { ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven } from '../fields.ts';
import type { ClaudeTraits } from './models.ts';

export interface ThinkingPlan {
  /** The body's `thinking`. */
  readonly thinking?: Fields | undefined;
  /** The body's `output_config.effort`. */
  readonly effort?: string | undefined;
  /** Tokens that may go into thinking; the default ceiling is raised by as many. */
  readonly reserve: number;
  /** Whether sampling is restricted by it. */
  readonly isActive: boolean;
  readonly ignored: readonly string[];
}

/** What the rest of the request says about thinking. */
export interface ThinkingFacts {
  readonly traits: ClaudeTraits;
  /** The ceiling of the answer: the caller's, or the model's own where the catalog knows it. */
  readonly maxTokens: number | undefined;
  /** Some tool must be called: the vendor takes no thinking then. */
  readonly isForced: boolean;
  /** A tool's result follows a turn whose thinking the caller did not return: the vendor takes no budget then. */
  readonly lacksThinking: boolean;
}

/** The least the vendor takes. Source: platform.claude.com, "Extended thinking", 2026-11-21. */
const MIN_BUDGET = 1024;
/** Tokens per effort. With the default ceiling on top the most is still within what every thinking model can answer, 32,000. */
const BUDGETS: ReadonlyMap<unknown, number> = new Map([
  ['minimal', 1024],
  ['low', 2048],
  ['medium', 8192],
  ['high', 16_384],
  ['xhigh', 24_576],
  ['max', 30_720],
]);
/** Part of the caller's ceiling that thinking may take. */
const SHARE = 0.8;

/** The caller's wish for reasoning, as `thinking` or `reasoning_effort`, in the form the model takes. See docs/providers.md#claude-models. */
export function planThinking(request: ChatRequest, facts: ThinkingFacts): ThinkingPlan {
  const { thinking, reasoning_effort: effort } = request;
  if (isGiven(thinking)) return planGiven(thinking, effort, facts);
  if (isGiven(effort)) return planEffort(effort, facts);
  return unasked(facts);
}

function unasked({ traits, isForced }: ThinkingFacts, ...ignored: string[]): ThinkingPlan {
  if (traits.thinksUnasked && isForced && !traits.alwaysThinks)
    return { thinking: { type: 'disabled' }, reserve: 0, isActive: false, ignored };
  return { reserve: traits.thinksUnasked ? reserveOf('high') : 0, isActive: false, ignored };
}

const reserveOf = (effort: unknown): number => BUDGETS.get(effort) ?? 0;

function planGiven(thinking: unknown, effort: unknown, facts: ThinkingFacts): ThinkingPlan {
  const beside = isGiven(effort) ? ['reasoning_effort'] : [];
  if (!isFields(thinking) || typeof thinking['type'] !== 'string') return unasked(facts, 'thinking', ...beside);
  if (thinking['type'] === 'disabled') return withIgnored(switchedOff(thinking, 'thinking', facts), beside);
  if (facts.isForced) return unasked(facts, 'thinking', ...beside);
  if (thinking['type'] !== 'enabled') {
    const word = thinking['type'] === 'between_tools' ? atMostHigh(effortWord(effort)) : effortWord(effort);
    return {
      thinking,
      effort: word,
      reserve: reserveOf(word ?? 'high'),
      isActive: true,
      ignored: word === undefined ? beside : [],
    };
  }
  return planEnabled(thinking, effort, facts);
}

const withIgnored = (plan: ThinkingPlan, more: readonly string[]): ThinkingPlan => ({
  ...plan,
  ignored: [...plan.ignored, ...more],
});

/** A budget as the caller gives it; where the model takes none, the effort that comes nearest. */
function planEnabled(thinking: Fields, effort: unknown, facts: ThinkingFacts): ThinkingPlan {
  const { budget_tokens: budget } = thinking;
  const beside = isGiven(effort) ? ['reasoning_effort'] : [];
  if (facts.traits.thinking === 'adaptive')
    return adaptive(effortWord(effort) ?? nearestEffort(budget), thinking['display']);
  const fits =
    typeof budget === 'number' && budget >= MIN_BUDGET && (facts.maxTokens === undefined || budget < facts.maxTokens);
  if (facts.traits.thinking === 'none' || !fits || facts.lacksThinking) return unasked(facts, 'thinking', ...beside);
  return { thinking, reserve: budget, isActive: true, ignored: beside };
}

function planEffort(effort: unknown, facts: ThinkingFacts): ThinkingPlan {
  const { traits, maxTokens, isForced, lacksThinking } = facts;
  if (effort === 'none') return switchedOff({ type: 'disabled' }, 'reasoning_effort', facts);
  const wanted = BUDGETS.get(effort);
  if (wanted === undefined || isForced || traits.thinking === 'none') return unasked(facts, 'reasoning_effort');
  if (traits.thinking === 'adaptive') return adaptive(effortWord(effort));
  const budget = maxTokens === undefined ? wanted : Math.min(wanted, Math.floor(maxTokens * SHARE));
  if (budget < MIN_BUDGET || lacksThinking) return unasked(facts, 'reasoning_effort');
  return { thinking: { type: 'enabled', budget_tokens: budget }, reserve: budget, isActive: true, ignored: [] };
}

/** Says so only where the model would think otherwise. */
function switchedOff(thinking: Fields, name: string, { traits }: ThinkingFacts): ThinkingPlan {
  if (traits.thinksBetweenTools)
    return { thinking: { type: 'between_tools' }, reserve: reserveOf('high'), isActive: true, ignored: [] };
  if (traits.alwaysThinks) return { reserve: reserveOf('high'), isActive: false, ignored: [name] };
  return { ...(traits.thinksUnasked && { thinking }), reserve: 0, isActive: false, ignored: [] };
}

/** These models leave the text of their thinking out unless it is asked for. Source: platform.claude.com, "Adaptive thinking", 2026-11-21. */
function adaptive(effort: string | undefined, display: unknown = 'summarized'): ThinkingPlan {
  return {
    thinking: { type: 'adaptive', display },
    effort,
    reserve: reserveOf(effort ?? 'high'),
    isActive: true,
    ignored: [],
  };
}

function effortWord(effort: unknown): string | undefined {
  if (effort === 'minimal') return 'low';
  return BUDGETS.has(effort) ? String(effort) : undefined;
}

/** Thinking between tools takes no more. Source: GitHub vercel/ai, release @ai-sdk/anthropic 4.0.67, 2026-09-28. */
const atMostHigh = (word: string | undefined): string | undefined =>
  word === 'xhigh' || word === 'max' ? 'high' : word;

/** The least effort whose budget is not smaller. */
function nearestEffort(budget: unknown): string {
  const words = ['low', 'medium', 'high', 'xhigh'];
  return words.find((word) => typeof budget === 'number' && reserveOf(word) >= budget) ?? 'max';
}
