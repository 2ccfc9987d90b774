import type { ChatField } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';
import type { LatePlace } from './late-system.ts';

/** Whether a target is asked in the common format. */
export const speaksCommon = ({ wire }: TargetFacts): boolean => wire === 'common';

/** Whether the chat goes to the Responses API of a service whose wire is the common one. */
export const goesToResponses = ({ via }: TargetFacts): boolean => via === 'responses';

/** Whether results of tools may hold more than text: chat of the common wire has no place for it. */
export const takesMediaInResults = (target: TargetFacts): boolean =>
  goesToResponses(target) || (target.traits.mediaInResults ?? !speaksCommon(target));

/** Whether results of tools may say that the tool failed: the common wire has no place for it. */
export const takesErrorsInResults = (target: TargetFacts): boolean =>
  target.traits.errorsInResults ?? !speaksCommon(target);

/** Where messages of the role `system` may stand behind the first turn: what is known of the model counts first. Native wires that take them have rules of place. */
export function latePlace({ facts, traits: { history }, wire }: TargetFacts): LatePlace {
  if (!(facts.late_system ?? history?.late_system ?? false)) return 'nowhere';
  return wire === 'native' ? 'between_turns' : 'anywhere';
}

/** Whether a target takes a field that not every vendor of the common format has. */
export const takesField = ({ traits: { fields } }: TargetFacts, field: ChatField): boolean =>
  fields !== undefined && fields.includes(field);

/** Native translators map the tier, or report it. */
export const takesTier = (target: TargetFacts): boolean => !speaksCommon(target) || takesField(target, 'service_tier');

/** The names of tools that most wires take end here. */
export const MAX_TOOL_NAME = 64;

export const takesLongNames = ({ traits: { longToolNames } }: TargetFacts): boolean => longToolNames === true;
