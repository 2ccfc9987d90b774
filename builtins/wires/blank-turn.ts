import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type ChatMessage, type ChatRequest, isFields } from '../../host/contract/index.ts';
import type { TargetFacts } from '../../host/wire/client-request.ts';

/**
 * Throws a 400 for a last turn of the user that holds nothing but white space, where the target refuses such a text: without it, the model would
 * go on with its own answer. `path` is where the client has that turn. See docs/reference/ingress.md#a-last-turn-of-white-space.
 */
export function refuseBlankTurn(
  { messages }: ChatRequest,
  { traits: { refusesBlankTurns }, provider }: TargetFacts,
  path: () => string,
): void {
  if (refusesBlankTurns === true && endsBlank(messages))
    throw invalidRequest(`${path()} is white space only, which ${provider} does not take as the last turn of the user`);
}

/** Whether the user says nothing behind the last answer. Instructions between the two are looked past. */
function endsBlank(messages: readonly ChatMessage[]): boolean {
  const answer = messages.findLastIndex(({ role }) => role === 'assistant');
  const said = messages.slice(answer + 1).filter(({ role }) => role !== 'system' && role !== 'developer');
  return answer >= 0 && said.length > 0 && said.every(isBlank);
}

const isBlank = ({ role, content }: ChatMessage): boolean =>
  role === 'user' &&
  (typeof content === 'string'
    ? content.trim() === ''
    : (content ?? []).every((part) => part.type === 'text' && part.text.trim() === ''));

/** Where the last turn of the user stands in a list of the client's; a turn without a role may be the user's too. */
export const lastUserTurn = (turns: readonly unknown[], isUser: (role: unknown) => boolean): number =>
  turns.findLastIndex((turn: unknown) => isFields(turn) && isUser(turn['role']));
