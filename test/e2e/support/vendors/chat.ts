import type { ServerResponse } from 'node:http';
import { openSse, sseEvent } from '../../../kit/index.ts';
import { isPending } from '../../../kit/strict/check.ts';
import { refusalsOf } from '../../../kit/strict/index.ts';
import {
  allowOnly,
  type Asked,
  type Dialect,
  type Fields,
  refuse,
  refuseAny,
  requireFields,
  sendJson,
} from './dialect.ts';

export interface ChatDialect {
  /** Every field of a closed schema. */
  readonly only?: readonly string[];
  /** Fields that are refused by name. */
  readonly refused?: readonly string[];
  /** Members of messages that are refused by name, in the roles given or in every one. */
  readonly refusedInMessages?: Readonly<Record<string, readonly string[]>>;
  /** Throws a refusal for what names alone cannot tell. */
  readonly check?: (body: Fields) => void;
  /** What the model calls its thoughts; it has some when a prompt says `think`. */
  readonly thoughts?: 'reasoning' | 'reasoning_content';
  /** Where a stream tells its usage: in a chunk of its own or with the finish, when asked for; or unasked, with the finish. */
  readonly usage?: 'apart' | 'finish' | 'unasked';
  /** Further members of a reply, and of every chunk of a streamed one. */
  readonly reply?: Fields;
}

export const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
export const THOUGHTS = 'Six plus three is nine.';

/** What every vendor answers to a prompt. */
export const heard = (vendor: string, prompt: string): string => `${vendor} heard: ${prompt}`;

/** Chat as most vendors speak it. */
export function chat(dialect: ChatDialect = {}): Dialect {
  return (asked, response) => {
    const { body } = asked;
    check(body, dialect);
    const refusal = refusalsOf({ provider: asked.vendor, model: asked.model, path: '/chat/completions', body }).find(
      (problem) => !isPending(asked.vendor, problem),
    );
    if (refusal !== undefined) refuse(refusal);
    const prompt = textOf(body['messages'].findLast(({ role }: Fields) => role === 'user')?.content);
    const content = heard(asked.vendor, prompt);
    const thoughts = dialect.thoughts && prompt.includes('think') ? { [dialect.thoughts]: THOUGHTS } : {};
    if (body['stream'] === true)
      stream(asked, response, dialect, [thoughts, ...content.split(/(?= )/).map((piece) => ({ content: piece }))]);
    else sendJson(response, replyOf(asked, { role: 'assistant', content, ...thoughts }, dialect));
  };
}

function check(body: Fields, { only, refused = [], refusedInMessages = {}, check: checkMore }: ChatDialect): void {
  requireFields(body, ['model', 'messages']);
  if (only) allowOnly(body, only);
  refuseAny(body, refused);
  if ('stream_options' in body && body['stream'] !== true)
    refuse("the 'stream_options' parameter is only allowed when 'stream' is enabled");
  for (const [at, message] of (body['messages'] as readonly Fields[]).entries()) {
    requireFields(message, ['role']);
    if (!('content' in message)) refuse(`'messages.${at}': property 'content' is missing`);
    for (const [name, roles] of Object.entries(refusedInMessages)) {
      if (roles.length === 0 || roles.includes(message['role'] as string))
        refuseAny(message, [name], `messages.${at}.`);
    }
  }
  checkMore?.(body);
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return ((content ?? []) as readonly Fields[]).map(({ text }) => String(text)).join('');
}

const headOf = ({ model }: Asked): Fields => ({ id: 'chatcmpl-e2e', created: 1_763_700_000, model });

function replyOf(asked: Asked, message: Fields, { reply = {} }: ChatDialect): Fields {
  return {
    ...headOf(asked),
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: USAGE,
    ...reply,
  };
}

function stream(
  asked: Asked,
  response: ServerResponse,
  { usage: place = 'finish', reply = {} }: ChatDialect,
  deltas: readonly Fields[],
): void {
  const isCounted = place === 'unasked' || asked.body['stream_options']?.include_usage === true;
  const chunk = (choices: readonly Fields[], more: Fields = {}): Fields => ({
    ...headOf(asked),
    object: 'chat.completion.chunk',
    choices,
    ...reply,
    ...more,
  });
  const choice = (delta: Fields, finish_reason: string | null = null): Fields[] => [{ index: 0, delta, finish_reason }];
  const chunks = [
    chunk(choice({ role: 'assistant', content: '' })),
    ...deltas.filter((delta) => Object.keys(delta).length > 0).map((delta) => chunk(choice(delta))),
    chunk(choice({}, 'stop'), isCounted && place !== 'apart' ? { usage: USAGE } : {}),
    ...(isCounted && place === 'apart' ? [chunk([], { usage: USAGE })] : []),
  ];
  openSse(response);
  response.end([...chunks, '[DONE]'].map(sseEvent).join(''));
}
