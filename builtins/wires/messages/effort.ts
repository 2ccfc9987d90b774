import { type Fields, isFields } from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';

const EFFORTS: ReadonlySet<unknown> = new Set(['low', 'medium', 'high', 'xhigh', 'max']);
/** Most tokens of a budget that an effort stands for. See docs/reference/ingress.md#effort. */
const BUDGETS = [
  [2048, 'low'],
  [8192, 'medium'],
  [16_384, 'high'],
  [24_576, 'xhigh'],
] as const;
/** Source: @anthropic-ai/sdk 1.12.0, 2026-11-22. */
const DISPLAYS: ReadonlySet<unknown> = new Set([undefined, null, 'summarized', 'omitted']);
const MIN_BUDGET = 1024;

/** How much the model is to think, as the common format says it. */
export function readEffort(
  { thinking, output_config: config, max_tokens: maxTokens }: Readonly<Fields>,
  notes: Notes,
): string | undefined {
  const asked = isFields(config) ? (config['effort'] ?? undefined) : undefined;
  if (asked !== undefined && !EFFORTS.has(asked))
    notes.refuse('output_config.effort must be low, medium, high, xhigh or max');
  const effort = typeof asked === 'string' && EFFORTS.has(asked) ? asked : undefined;
  if (thinking === undefined || thinking === null) return effort;
  const { type, budget_tokens: budget, display } = isFields(thinking) ? thinking : {};
  if (typeof display === 'string' && !DISPLAYS.has(display)) notes.lose('thinking.display'); // the vendor adds words without a new version
  else if (!DISPLAYS.has(display)) notes.refuse('thinking.display must be summarized or omitted');
  switch (type) {
    case 'adaptive':
      return effort;
    case 'disabled':
    case 'between_tools':
      return 'none';
    case 'enabled':
      if (typeof budget !== 'number' || !Number.isInteger(budget) || budget < MIN_BUDGET)
        notes.refuse(`thinking.budget_tokens must be an integer of at least ${MIN_BUDGET}`);
      else if (typeof maxTokens === 'number' && budget >= maxTokens)
        notes.refuse('thinking.budget_tokens must be less than max_tokens');
      return BUDGETS.find(([most]) => Number(budget) <= most)?.[1] ?? 'max';
    default:
      notes.refuse('thinking.type must be enabled, adaptive, disabled or between_tools');
      return undefined;
  }
}

/** The member by which the client asked for it. */
export function effortPath({ thinking }: Readonly<Fields>): string {
  return isFields(thinking) && thinking['type'] !== 'adaptive' ? 'thinking' : 'output_config.effort';
}

/** Whether thoughts are to come without their text. */
export const hidesThoughts = ({ thinking }: Readonly<Fields>): boolean =>
  isFields(thinking) && thinking['display'] === 'omitted';
