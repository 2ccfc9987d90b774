import { CALL_WORDS, DETAIL_WORDS, isControl, MESSAGE_WORDS, NAMED_FIELDS, WORDS_BY_FIELD } from './chat-words.ts';
import { inReply, inRequest, isChosen, type NamesBelow } from './chosen-names.ts';
import { readings } from './client-body.ts';
import { isLabel } from '../json/fields.ts';
import { membersTexts, named } from './member-texts.ts';
import { partTexts } from './part-texts.ts';
import type { ChatMessage, ChatReply, ChatRequest, ContentPart, ReplyMessage } from '../wire/chat.ts';

/** Every text of a chat request: its messages, and the fields that do not only steer the call. */
export function* requestTexts(request: ChatRequest): Generator<string> {
  for (const message of request.messages) yield* wholeMessageTexts(message, inRequest);
  for (const [field, value] of Object.entries(request)) {
    if (isControl(field, value)) continue;
    if (isChosen(field, 'own')) yield* readings(field);
    const words = WORDS_BY_FIELD.get(field);
    if (words) yield* membersTexts(value, words, inRequest);
    else yield* named(value, NAMED_FIELDS.has(field) ? 'own' : 'free', inRequest);
  }
}

/** Every text of a chat answer: its choices, and what stands beside them. */
export function* replyTexts({ choices, usage: _usage, ...reply }: ChatReply): Generator<string> {
  for (const { message, logprobs: _logprobs, ...choice } of choices) {
    yield* wholeMessageTexts(message, inReply);
    yield* besideTexts(choice);
  }
  yield* besideTexts(reply);
}

function* besideTexts(fields: Readonly<Record<string, unknown>>): Generator<string> {
  for (const name in fields) {
    if (isChosen(name, 'own')) yield* readings(name);
    if (name !== 'model' && !isLabel(fields[name])) yield* named(fields[name], 'own', inReply);
  }
}

function* wholeMessageTexts(
  { content, tool_calls, reasoning_details, ...message }: ChatMessage | ReplyMessage,
  below: NamesBelow,
): Generator<string> {
  if (Array.isArray(content)) yield* partTexts(content as readonly ContentPart[], below);
  else yield* named(content, 'own', below);
  yield* membersTexts(message, MESSAGE_WORDS, below);
  yield* membersTexts(reasoning_details, DETAIL_WORDS, below);
  yield* membersTexts(tool_calls, CALL_WORDS, below);
}
