import { type ChatRequest, EFFORTS, nearestEffort } from 'gw/contract';
import { type Fields, isFields, isGiven } from '../fields.ts';
import { EFFORT_BUDGETS } from '../model-limits.ts';
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
  /** Fields that travel with the nearest value the model takes. */
  readonly bounded?: readonly string[];
}

/** What the rest of the request says about thinking. */
export interface ThinkingFacts {
  readonly traits: ClaudeTraits;
  /** The ceiling of the answer: the caller's, or the model's own where the catalog knows it. */
  readonly maxTokens: number | undefined;
  /** Some tool must be called: then thinking is not asked for. */
  readonly isForced: boolean;
  /** A tool's result follows a turn whose thinking the caller did not return: the vendor takes no budget then. */
  readonly lacksThinking: boolean;
}

/** The least the vendor takes. Source: platform.claude.com, "Extended thinking", 2026-11-21. */
const MIN_BUDGET = 1024;
/** Part of the caller's ceiling that thinking may take. */
const SHARE = 0.8;

/**
 * The caller's wish for reasoning, as `thinking` or `reasoning_effort`, in the form the model takes. With the default ceiling on
 * top the most that an effort stands for is still within what every thinking model can answer, 32,000 tokens. See
 * docs/providers.md#claude-models.
 */
export function planThinking(request: ChatRequest, facts: ThinkingFacts): ThinkingPlan {
  const { thinking, reasoning_effort: effort, output_config: config } = request;
  const own = isFields(config) ? config['effort'] : undefined;
  if (isGiven(thinking)) return planGiven(thinking, effort, facts, own);
  if (isGiven(effort)) return planEffort(effort, facts, own);
  return unasked(facts);
}

function unasked({ traits, isForced }: ThinkingFacts, ...ignored: string[]): ThinkingPlan {
  if (traits.thinksUnasked && isForced && traits.forcedTool === 'not_thinking')
    return { thinking: { type: 'disabled' }, reserve: 0, isActive: false, ignored };
  return { reserve: traits.thinksUnasked ? reserveOf(traits.usualEffort) : 0, isActive: false, ignored };
}

const reserveOf = (effort: unknown): number => EFFORT_BUDGETS.get(effort) ?? 0;

function planGiven(thinking: unknown, effort: unknown, facts: ThinkingFacts, own: unknown): ThinkingPlan {
  const beside = isGiven(effort) ? ['reasoning_effort'] : [];
  if (!isFields(thinking) || typeof thinking['type'] !== 'string') return unasked(facts, 'thinking', ...beside);
  if (thinking['type'] === 'disabled') return withIgnored(switchedOff(thinking, 'thinking', facts, own), beside);
  if (facts.isForced) return unasked(facts, 'thinking', ...beside);
  if (thinking['type'] === 'enabled') return planEnabled(thinking, effort, facts);
  const { word, bounded } = effortWord(effort, facts.traits);
  const used = thinking['type'] === 'between_tools' ? atMostHigh(word) : word;
  return {
    thinking,
    effort: used,
    reserve: reserveOf(used ?? facts.traits.usualEffort),
    isActive: true,
    ignored: used === undefined ? beside : [],
    bounded,
  };
}

const withIgnored = (plan: ThinkingPlan, more: readonly string[]): ThinkingPlan => ({
  ...plan,
  ignored: [...plan.ignored, ...more],
});

/** A budget as the caller gives it; where the model takes none, or not this one, the effort that comes nearest. */
function planEnabled(thinking: Fields, effort: unknown, facts: ThinkingFacts): ThinkingPlan {
  const { budget_tokens: budget } = thinking;
  const { traits, maxTokens, lacksThinking } = facts;
  const beside = isGiven(effort) ? ['reasoning_effort'] : [];
  const { mostBudget: most } = traits;
  const within = Math.min(Number(budget), most ?? 0);
  const fits =
    typeof budget === 'number' &&
    within >= MIN_BUDGET &&
    (maxTokens === undefined || within < maxTokens) &&
    !lacksThinking;
  if (fits && traits.thinking !== 'none') {
    const isBounded = within < budget;
    return {
      thinking: isBounded ? { ...thinking, budget_tokens: within } : thinking,
      reserve: within,
      isActive: true,
      ignored: beside,
      bounded: isBounded ? ['thinking'] : [],
    };
  }
  if (traits.thinking !== 'adaptive') return unasked(facts, 'thinking', ...beside);
  const asked = EFFORT_BUDGETS.has(effort) ? effort : effortFor(budget);
  return adaptive(asked, traits, thinking['display']);
}

function planEffort(effort: unknown, facts: ThinkingFacts, own: unknown): ThinkingPlan {
  const { traits, maxTokens, isForced, lacksThinking } = facts;
  if (effort === 'none') return switchedOff({ type: 'disabled' }, 'reasoning_effort', facts, own);
  const wanted = EFFORT_BUDGETS.get(effort);
  if (wanted !== undefined && isForced && traits.thinking === 'adaptive' && traits.forcedTool === 'any')
    return { ...adaptive(effort, traits), thinking: undefined, isActive: false }; // it thinks by itself
  if (wanted === undefined || isForced || traits.thinking === 'none') return unasked(facts, 'reasoning_effort');
  if (traits.thinking === 'adaptive') return adaptive(effort, traits);
  const ceiling = maxTokens === undefined ? wanted : Math.min(wanted, Math.floor(maxTokens * SHARE));
  const budget = Math.min(ceiling, traits.mostBudget ?? ceiling);
  if (budget < MIN_BUDGET || lacksThinking) return unasked(facts, 'reasoning_effort');
  return { thinking: { type: 'enabled', budget_tokens: budget }, reserve: budget, isActive: true, ignored: [] };
}

/** Says so only where the model would think otherwise; one that always thinks does so with its least effort. */
function switchedOff(thinking: Fields, name: string, { traits }: ThinkingFacts, own: unknown): ThinkingPlan {
  const { off, thinksUnasked } = traits;
  if (off === 'between_tools')
    return { thinking: { type: 'between_tools' }, reserve: reserveOf('high'), isActive: true, ignored: [] };
  if (off === 'no') {
    const effort = nearestEffort('none', traits.efforts ?? []).effort;
    return { effort, reserve: reserveOf(effort ?? traits.usualEffort), isActive: false, ignored: [name] };
  }
  if (off !== 'yes' && rankOf(own ?? traits.usualEffort) > rankOf(off.slice('up_to:'.length)))
    return { reserve: reserveOf(own), isActive: false, ignored: [name] };
  return { ...(thinksUnasked && { thinking }), reserve: 0, isActive: false, ignored: [] };
}

const rankOf = (effort: unknown): number => EFFORTS.findIndex((word) => word === effort);

/** These models leave the text of their thinking out unless it is asked for. Source: platform.claude.com, "Adaptive thinking", 2026-11-21. */
function adaptive(asked: unknown, traits: ClaudeTraits, display: unknown = 'summarized'): ThinkingPlan {
  const { word: effort, bounded } = effortWord(asked, traits);
  return {
    thinking: { type: 'adaptive', display },
    effort,
    reserve: reserveOf(effort ?? traits.usualEffort),
    isActive: true,
    ignored: [],
    bounded,
  };
}

/** The word that the model takes for an effort; none for what is not one. */
function effortWord(
  effort: unknown,
  { efforts }: ClaudeTraits,
): { readonly word: string | undefined; readonly bounded: readonly string[] } {
  if (!EFFORT_BUDGETS.has(effort)) return { word: undefined, bounded: [] };
  const { effort: word, change } = nearestEffort(String(effort), efforts);
  return { word, bounded: change === 'bounded' ? ['reasoning_effort'] : [] };
}

/** Thinking between tools takes no more. Source: GitHub vercel/ai, release @ai-sdk/anthropic 4.0.67, 2026-09-28. */
const atMostHigh = (word: string | undefined): string | undefined =>
  word === 'xhigh' || word === 'max' ? 'high' : word;

/** The least effort whose budget is not smaller. */
function effortFor(budget: unknown): string {
  const words = ['low', 'medium', 'high', 'xhigh'];
  return words.find((word) => typeof budget === 'number' && reserveOf(word) >= budget) ?? 'max';
}
