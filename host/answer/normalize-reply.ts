/**
 * Brings what an upstream answers into the shape the common wire promises (docs/reference/data-plane.md#answers). Upstreams
 * are read leniently: what has the wrong type is repaired or left out, never passed on unread.
 */
import { type ChatReply, finishReason, readUsage, type ReplyMessage } from '../contract/index.ts';
import { type Fields, isFields, isIndex } from '../contract/json/fields.ts';
import { contentText, takeReasoning, takeThoughts } from './message-parts.ts';
import { withTier } from './charged-usage.ts';
import { completeCalls, normalizeToolCalls } from './tool-calls.ts';

export interface ReplyFacts {
  /** The model the client asked for, after aliases. */
  readonly model: string;
  /** Key of the target that answered. */
  readonly provider: string;
  /** Unix seconds, for replies without a time. */
  readonly created: number;
  /** What tells this answer from all others: ids of calls are made of it where the upstream gave none. */
  readonly answer?: string | undefined;
}

/** Whether a value is a time as clients read it: whole seconds, not zero. */
export const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && value !== 0;

/** Fills and corrects a unary reply in place; it was parsed for this one exchange. Names of sums of its usage that cannot be believed are added to `doubts`. */
export function normalizeReply(reply: ChatReply, facts: ReplyFacts, doubts?: string[]): void {
  if (typeof reply.object !== 'string' || reply.object === '') reply.object = 'chat.completion';
  if (typeof reply.id !== 'string') delete reply.id;
  if (!isTime(reply.created)) reply.created = facts.created;
  reply.model = facts.model;
  reply.provider = facts.provider;
  const choices: unknown = reply.choices;
  reply.choices = (Array.isArray(choices) ? choices : []).filter(isFields).map((choice, index) => {
    if (!isIndex(choice['index'])) choice['index'] = index;
    choice['message'] = normalizeMessage(choice['message']);
    completeCalls(choice['message'] as ReplyMessage, facts.answer, index);
    choice['finish_reason'] =
      typeof choice['finish_reason'] === 'string' ? finishReason(choice['finish_reason']) : null;
    return choice as unknown as ChatReply['choices'][number];
  });
  const usage = readUsage(reply.usage, doubts);
  if (usage) reply.usage = withTier(usage, reply['service_tier']);
  else delete reply.usage;
}

/** Members of a message that are a list or absent: Mistral sends `tool_calls: null`. */
const LISTS = ['tool_calls', 'reasoning_details'] as const;

function normalizeMessage(value: unknown): ReplyMessage {
  const message: Fields = isFields(value) ? value : {};
  if (typeof message['role'] !== 'string') message['role'] = 'assistant';
  const { content } = message;
  takeReasoning(message);
  if (Array.isArray(content)) takeThoughts(message, content);
  const text = contentText(content);
  normalizeToolCalls(message);
  for (const name of LISTS) if (name in message && !Array.isArray(message[name])) delete message[name];
  const callsOnly = text === '' && Array.isArray(message['tool_calls']) && message['tool_calls'].length > 0;
  message['content'] = callsOnly ? null : (text ?? null);
  return message as unknown as ReplyMessage;
}
