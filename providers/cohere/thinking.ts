import type { ChatRequest, ModelFacts } from 'gw/contract';
import { type Fields, isFields, isGiven, withoutAbsent } from 'gw/common-wire';

/**
 * Tokens that an effort may think, where the vendor only knows a budget: an estimate of ours, from a few thoughts to some
 * pages; the rest is not bounded. Source of the field: Cohere documentation, "Reasoning capabilities", 2026-11-21.
 */
const BUDGETS: ReadonlyMap<unknown, number | undefined> = new Map([
  ['minimal', 512],
  ['low', 1024],
  ['medium', 8192],
  ['high', undefined],
  ['xhigh', undefined],
  ['max', undefined],
]);

export interface ThinkingPlan {
  readonly thinking?: Fields;
  /** Request fields whose value the model does not know. */
  readonly ignored: readonly string[];
}

/** The caller's wish for reasoning: `thinking`, with either name of its budget, before `reasoning_effort`. Models that were made before thinking refuse the field. */
export function planThinking(
  { thinking, reasoning_effort: effort, max_tokens: ceiling }: ChatRequest,
  { thinking: kind }: ModelFacts,
): ThinkingPlan {
  const isUnthinking = kind === 'none';
  const asked = ['thinking', 'reasoning_effort'].filter((_name, at) => isGiven([thinking, effort][at]));
  const [first, ...beside] = asked;
  if (first === undefined) return { ignored: [] };
  const plan = first === 'thinking' ? ownPlan(thinking) : effortPlan(effort, ceiling);
  if (!plan || (isUnthinking && plan['type'] !== 'disabled')) return { ignored: asked };
  return { ...(!isUnthinking && { thinking: plan }), ignored: beside };
}

/** `undefined` for a value that the vendor has no field for. */
function ownPlan(given: unknown): Fields | undefined {
  if (!isFields(given)) return undefined;
  const { type, token_budget: own, budget_tokens: budget = own } = given;
  if (type === 'disabled') return { type };
  if (type !== 'enabled' && type !== 'adaptive') return undefined;
  return withoutAbsent({
    type: 'enabled',
    token_budget: Number.isInteger(budget) && Number(budget) > 0 ? budget : undefined,
  });
}

/** Never more than half of what may be written at all. */
function effortPlan(effort: unknown, ceiling: number | null | undefined): Fields | undefined {
  if (effort === 'none') return { type: 'disabled' };
  if (!BUDGETS.has(effort)) return undefined;
  const budget = BUDGETS.get(effort);
  const bounded = budget !== undefined && ceiling ? Math.max(1, Math.min(budget, Math.floor(ceiling / 2))) : budget;
  return withoutAbsent({ type: 'enabled', token_budget: bounded });
}
