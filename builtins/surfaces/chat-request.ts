import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type ChatRequest, quoted } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import {
  checkFields,
  checkPositive,
  checkRange,
  type FieldKind,
  flag,
  integer,
  isObject,
  list,
  longInteger,
  number,
  numberMap,
  object,
  objects,
  requireText,
  text,
  textOrObject,
  texts,
} from './fields.ts';

/** What chat and legacy completions share. */
export const SAMPLING_FIELDS: readonly (readonly [string, FieldKind])[] = [
  ['temperature', number],
  ['top_p', number],
  ['n', integer],
  ['seed', longInteger],
  ['max_tokens', integer],
  ['max_completion_tokens', integer],
  ['presence_penalty', number],
  ['frequency_penalty', number],
  ['user', text],
  ['logit_bias', numberMap],
];

/** Known fields of the chat wire; every other field travels as it is. */
const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ...SAMPLING_FIELDS,
  ['model', text],
  ['messages', list],
  ['stop', texts],
  ['tools', objects],
  ['tool_choice', textOrObject],
  ['parallel_tool_calls', flag],
  ['response_format', object],
  ['logprobs', flag],
  ['top_logprobs', integer],
  ['stream', flag],
  ['stream_options', object],
]);

const MESSAGE_FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['role', text],
  ['name', text],
  ['tool_call_id', text],
  ['tool_calls', objects],
  ['reasoning_content', text],
  ['reasoning_details', list],
]);

const STREAM_FIELDS: ReadonlyMap<string, FieldKind> = new Map([['include_usage', flag]]);
const FORMAT_FIELDS: ReadonlyMap<string, FieldKind> = new Map([['type', text]]);
const TOOL_FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['type', text],
  ['function', object],
]);
const FUNCTION_FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['name', text],
  ['description', text],
  ['strict', flag],
]);
const CALL_FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['id', text],
  ['type', text],
  ['function', object],
]);
const CALLED_FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ['name', text],
  ['arguments', text],
]);

/**
 * Checks a chat body in the order of docs/reference/data-plane.md#chat-requests and brings it into one shape: nulls of optional fields are gone, and
 * `stop` is a list. The first fault answers.
 */
export function readChatRequest(body: JsonObject): ChatRequest {
  checkFields(body, FIELDS);
  checkMembers(body, 'stream_options', STREAM_FIELDS, '');
  checkMembers(body, 'response_format', FORMAT_FIELDS, '');
  ((body['tools'] ?? []) as readonly JsonObject[]).forEach((tool, index) => {
    checkFields(tool, TOOL_FIELDS, `tools[${index}].`);
    checkMembers(tool, 'function', FUNCTION_FIELDS, `tools[${index}].`);
  });
  if (typeof body['stop'] === 'string') body['stop'] = [body['stop']];
  const messages = (body['messages'] ?? []) as readonly unknown[];
  messages.forEach(checkMessage);
  requireText(body, 'model');
  if (messages.length === 0) throw invalidRequest('messages is required and must hold at least one message');
  const mute = (messages as readonly JsonObject[]).findIndex(({ role }) => role === undefined);
  if (mute >= 0) throw invalidRequest(`messages[${mute}].role is required`);
  checkSampling(body);
  return body as unknown as ChatRequest;
}

/** Ranges that chat and legacy completions share. */
export function checkSampling(body: JsonObject): void {
  checkRange(body, 'temperature', 0, 2);
  checkRange(body, 'top_p', 0, 1);
  checkPositive(body, 'max_tokens');
  checkPositive(body, 'max_completion_tokens');
  checkRange(body, 'presence_penalty', -2, 2);
  checkRange(body, 'frequency_penalty', -2, 2);
}

function checkMessage(message: unknown, index: number): void {
  const at = `messages[${index}]`;
  if (!isObject(message)) throw invalidRequest(`${at} must be an object`);
  checkFields(message, MESSAGE_FIELDS, `${at}.`);
  const { content, tool_calls: calls } = message as { content?: unknown; tool_calls?: readonly JsonObject[] };
  if (Array.isArray(content)) content.forEach((part, place) => checkPart(part, `${at}.content[${place}]`));
  else if (content !== undefined && content !== null && typeof content !== 'string')
    throw invalidRequest(`${at}.content must be a string, a list of parts or null`);
  calls?.forEach((call, place) => checkToolCall(call, `${at}.tool_calls[${place}]`));
}

function checkPart(part: unknown, at: string): void {
  if (!isObject(part)) throw invalidRequest(`${at} must be an object`);
  switch (part['type']) {
    case 'text':
      if (typeof part['text'] !== 'string') throw invalidRequest(`${at}.text must be a string`);
      return;
    case 'image_url': {
      const image = part['image_url'];
      if (!isObject(image) || typeof image['url'] !== 'string' || image['url'] === '')
        throw invalidRequest(`${at} is an image without a url`);
      return;
    }
    case 'refusal':
      if (typeof part['refusal'] !== 'string') throw invalidRequest(`${at}.refusal must be a string`);
      return;
    case 'input_audio':
    case 'file':
      return;
    default:
      throw invalidRequest(`${at} has the type ${quoted(part['type'] ?? null)}, which is not supported`);
  }
}

function checkToolCall(call: JsonObject, at: string): void {
  checkFields(call, CALL_FIELDS, `${at}.`);
  checkMembers(call, 'function', CALLED_FIELDS, `${at}.`);
}

/** Checks the members of a member, when it is there. */
function checkMembers(holder: JsonObject, name: string, kinds: ReadonlyMap<string, FieldKind>, at: string): void {
  if (isObject(holder[name])) checkFields(holder[name], kinds, `${at}${name}.`);
}
