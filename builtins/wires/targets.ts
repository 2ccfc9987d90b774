import type { ChatField } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';

/** Whether a target is asked in the common format. */
export const speaksCommon = ({ wire }: TargetFacts): boolean => wire === 'common';

export function marksCaches({ traits: { history } }: TargetFacts): 'asked' | 'unasked' | 'never' {
  const { marks = [] } = history ?? {};
  if (marks === 'unasked') return 'unasked';
  return marks.length > 0 ? 'asked' : 'never';
}

/** Whether results of tools may hold more than text: the common wire has no place for it. */
export const takesMediaInResults = (target: TargetFacts): boolean =>
  target.traits.mediaInResults ?? !speaksCommon(target);

/** Whether messages of the role `system` may stand where they are; native translators bring them into place themselves. */
export const takesLateInstructions = (target: TargetFacts): boolean =>
  !speaksCommon(target) || (target.facts.late_system ?? target.traits.history?.late_system ?? false);

/** Whether a target understands a format of `reasoning_details`. */
export function knowsReasoning({ facts, traits: { history } }: TargetFacts, format: unknown): boolean {
  if (facts.thoughts_back === 'details') return true;
  const { thoughts } = history ?? {};
  return typeof format === 'string' && Array.isArray(thoughts) && thoughts.includes(format);
}

/** Whether a target takes a field that not every vendor of the common format has. */
export const takesField = ({ traits: { fields } }: TargetFacts, field: ChatField): boolean =>
  fields !== undefined && fields.includes(field);

/** Native translators map the tier, or report it. */
export const takesTier = (target: TargetFacts): boolean => !speaksCommon(target) || takesField(target, 'service_tier');

/** The names of tools that most wires take end here. */
export const MAX_TOOL_NAME = 64;

export const takesLongNames = ({ traits: { longToolNames } }: TargetFacts): boolean => longToolNames === true;
