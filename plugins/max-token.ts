import Joi from 'joi';
import { type ChatMessage, definePlugin, type Exchange, isChat, messageTexts, reject, type Verdict } from 'gw/contract';
import { observe } from './_common/settings.ts';

interface Settings {
  max_tokens: number;
  max_messages: number;
  max_input_length: number;
  observe: boolean;
}

const limit = (otherwise: number, meaning: string): Joi.NumberSchema =>
  Joi.number().integer().min(0).default(otherwise).description(`${meaning}; 0 switches this off`);

/** Refuses requests that declare too many tokens, hold too many messages or are too long in bytes. 0 switches a limit off. */
export default definePlugin<Settings>({
  name: 'max-token',
  type: 'guardrail',
  summary: 'Rejects requests over a token, message or length limit; never imposes one',
  stages: ['before_request'],
  readsContent: ({ max_input_length, observe }) => max_input_length > 0 && !observe,
  needsBody: ({ max_tokens, max_input_length }) => max_tokens + max_input_length > 0,
  settings: Joi.object<Settings, true>({
    max_tokens: limit(4096, 'highest token ceiling that a request may declare; one that declares none passes'),
    max_messages: limit(100, 'most messages of a chat request'),
    max_input_length: limit(0, 'most bytes of text and image addresses in all messages'),
    observe,
  }),
  create: (settings) => ({
    before_request: (exchange) =>
      tooManyTokens(exchange, settings) ?? tooManyMessages(exchange, settings) ?? tooLong(exchange, settings),
  }),
});

/** Only a declared ceiling counts. */
function tooManyTokens({ request }: Exchange, { max_tokens: most }: Settings): Verdict | undefined {
  const declared = request['max_completion_tokens'] ?? request['max_tokens'];
  return most > 0 && typeof declared === 'number' && declared > most
    ? reject(`max_tokens ${declared} exceeds limit of ${most}`)
    : undefined;
}

function tooManyMessages(exchange: Exchange, { max_messages: most }: Settings): Verdict | undefined {
  const count = isChat(exchange) ? exchange.request.messages.length : 0;
  return most > 0 && count > most ? reject(`message count ${count} exceeds limit of ${most}`) : undefined;
}

function tooLong(exchange: Exchange, { max_input_length: most }: Settings): Verdict | undefined {
  if (most === 0) return undefined;
  let length = 0;
  if (isChat(exchange)) for (const message of exchange.request.messages) length += lengthOf(message);
  else for (const text of messageTexts(exchange)) length += Buffer.byteLength(text);
  return length > most ? reject(`total input length ${length} exceeds limit of ${most}`) : undefined;
}

/** Bytes of the text, or of the parts' texts and image addresses. */
function lengthOf({ content }: ChatMessage): number {
  if (typeof content === 'string') return Buffer.byteLength(content);
  let length = 0;
  for (const part of content ?? []) {
    if (part.type === 'text') length += Buffer.byteLength(part.text);
    else if (part.type === 'image_url') length += Buffer.byteLength(part.image_url.url);
  }
  return length;
}
