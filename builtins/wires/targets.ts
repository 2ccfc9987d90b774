import type { ChatField } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';

/** Whether a target is asked in the common format. */
export const speaksCommon = ({ wire }: TargetFacts): boolean => wire === 'common';

export function marksCaches({ traits: { caching } }: TargetFacts): 'asked' | 'unasked' | 'never' {
  if (caching === undefined) return 'never';
  return caching === 'marked' ? 'asked' : 'unasked';
}

/** Whether results of tools may hold more than text: the common wire has no place for it. */
export const takesMediaInResults = (target: TargetFacts): boolean =>
  target.traits.mediaInResults ?? !speaksCommon(target);

/** Whether results of tools may say that the tool failed: the common wire has no place for it. */
export const takesErrorsInResults = (target: TargetFacts): boolean =>
  target.traits.errorsInResults ?? !speaksCommon(target);

/** Whether messages of the role `system` may stand where they are; native translators bring them into place themselves. */
export const takesLateInstructions = (target: TargetFacts): boolean =>
  target.traits.lateInstructions ?? !speaksCommon(target);

/** Whether a target understands a format of `reasoning_details`. */
export function knowsReasoning({ traits: { thoughts } }: TargetFacts, format: unknown): boolean {
  if (thoughts === 'any') return true;
  return typeof format === 'string' && thoughts !== undefined && thoughts.includes(format);
}

/** Whether a target takes a field that not every vendor of the common format has. */
export const takesField = ({ traits: { fields } }: TargetFacts, field: ChatField): boolean =>
  fields !== undefined && fields.includes(field);

/** Native translators map the tier, or report it. */
export const takesTier = (target: TargetFacts): boolean => !speaksCommon(target) || takesField(target, 'service_tier');

/** The names of tools that most wires take end here. */
export const MAX_TOOL_NAME = 64;

export const takesLongNames = ({ traits: { longToolNames } }: TargetFacts): boolean => longToolNames === true;
