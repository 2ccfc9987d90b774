import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type ChatReply, type ChatRequest, contentTexts, GatewayError } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';
import { readMetadata } from '../../host/http/metadata-header.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { checkSampling, SAMPLING_FIELDS } from './chat-request.ts';
import { checkFields, type FieldKind, flag, integer, requireText, text, texts } from './fields.ts';

/** Accepted without effect, beside those of chat (docs/reference/data-plane.md#completions). */
const FIELDS: ReadonlyMap<string, FieldKind> = new Map([
  ...SAMPLING_FIELDS,
  ['model', text],
  ['stream', flag],
  ['echo', flag],
  ['suffix', text],
  ['best_of', integer],
  ['logprobs', integer],
]);

/** `POST /v1/completions`: one prompt, run as one user message through the chat pipeline. */
export default surfaceBuiltin({
  surface: 'completions',
  path: '/v1/completions',
  read: jsonBody((body, httpRequest) => {
    const { request, echoes } = readCompletion(body);
    return {
      request,
      streaming: false,
      metadata: readMetadata(httpRequest.headers['x-gateway-metadata']),
      write: (exchange) => toCompletion(exchange, echoes),
    };
  }),
});

function readCompletion(body: JsonObject): { readonly request: ChatRequest; readonly echoes: boolean } {
  checkFields(body, FIELDS);
  requireText(body, 'model');
  if (body['stream'] === true)
    throw new GatewayError('streaming_not_supported', 'this route does not stream; use /v1/chat/completions');
  const content = readPrompt(body['prompt']);
  if (body['stop'] === null) delete body['stop'];
  if (body['stop'] !== undefined && !texts.accepts(body['stop']))
    throw invalidRequest(`stop must be ${texts.expected}`);
  if (typeof body['stop'] === 'string') body['stop'] = [body['stop']];
  checkSampling(body);
  const {
    prompt: _prompt,
    echo,
    suffix: _suffix,
    best_of: _bestOf,
    logprobs: _logprobs,
    stream: _stream,
    stream_options: _options,
    ...rest
  } = body;
  return {
    request: { ...rest, messages: [{ role: 'user', content }] } as unknown as ChatRequest,
    echoes: echo === true,
  };
}

/** One text; a batch or token ids would need an answer of another shape. */
function readPrompt(prompt: unknown): string {
  if (prompt === undefined || prompt === null) return '';
  if (typeof prompt === 'string') return prompt;
  const [only, ...others] = Array.isArray(prompt) ? (prompt as readonly unknown[]) : [];
  if (typeof only === 'string' && others.length === 0) return only;
  throw new GatewayError('unsupported_parameter', 'prompt must be one string; batches and token ids are not supported');
}

function toCompletion(exchange: LiveExchange, echoes: boolean): object {
  const { id, created, model, choices, usage } = exchange.reply as ChatReply;
  const [asked] = (exchange.request as ChatRequest).messages;
  const prefix = echoes && asked ? [...contentTexts(asked)].join('') : '';
  return {
    id: id ?? `cmpl-${exchange.id}`,
    object: 'text_completion',
    created,
    model,
    choices: choices.map(({ index, message, finish_reason }) => ({
      text: prefix + textOf(message.content),
      index,
      logprobs: null,
      finish_reason,
    })),
    ...(usage && { usage }),
  };
}

const textOf = (content: unknown): string => (typeof content === 'string' ? content : '');
