import { Buffer } from 'node:buffer';
import {
  type ErrorCode,
  failedAnswer,
  GatewayError,
  isText,
  type ProviderFault,
  type StreamEvent,
  tryParseJson,
  type WireReply,
} from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';

/**
 * The service has one type for every bad request, so opt-in failover recognises its reasons by the messages: those of
 * Claude, Nova, Llama and Titan. Sources: AWS re:Post and vendors' documentation of these messages, 2026-11-21.
 */
const REASONS: readonly (readonly [RegExp, NonNullable<ProviderFault['reason']>])[] = [
  [
    /input is too long|prompt is too long|too many input tokens|input tokens? exceed|exceeds? (the )?(model'?s? )?(maximum )?(context|input)|maximum context length|context (window|limit)/i,
    'context_length',
  ],
  [/content filter|content policy|usage policy|guardrail|responsible ai|blocked by our/i, 'content_policy'],
];

const reasonOf = (message: string): ProviderFault['reason'] => REASONS.find(([pattern]) => pattern.test(message))?.[1];

/** The exception's name, from the header or the body: `ThrottlingException:http://…`. Source: AWS, "Restjson errors", 2026-11-21. */
function exceptionOf(headers: WireReply['headers'], body: Fields): string | undefined {
  const named = [headers['x-amzn-errortype'], body['__type']].find(isText);
  const name = named?.split(':')[0]?.split('#').at(-1);
  return name !== undefined && name.length <= 128 ? name : undefined;
}

/** What the host's own reading of error bodies does not tell: the exception's name, and what models behind the service say. */
export function toFault({ status, headers, body }: WireReply): ProviderFault | undefined {
  const parsed = body instanceof Uint8Array ? tryParseJson(Buffer.from(body).toString('utf8')) : undefined;
  const fields = isFields(parsed) ? parsed : {};
  const code = exceptionOf(headers, fields);
  const reason = status === 400 ? reasonOf(messageOf(fields) ?? '') : undefined;
  return code === undefined && reason === undefined ? undefined : { code, reason };
}

const messageOf = ({ message, Message }: Fields): string | undefined =>
  [message, Message].find((value): value is string => typeof value === 'string' && value.trim() !== '')?.trim();

function messageIn(text: string): string | undefined {
  const body = tryParseJson(text);
  return isFields(body) ? messageOf(body) : undefined;
}

interface Failure {
  readonly status: number;
  readonly code: ErrorCode;
  readonly message: string;
}

/** What the exceptions of a stream would have been as an answer. Source: Amazon Bedrock API reference, "ResponseStream", 2026-11-21. */
const EXCEPTIONS: ReadonlyMap<string, Failure> = new Map([
  [
    'throttlingexception',
    { status: 429, code: 'rate_limit_exceeded', message: "the provider's rate limit is exceeded" },
  ],
  ['validationexception', { status: 400, code: 'invalid_request', message: 'the provider refused the request' }],
  ['modeltimeoutexception', { status: 408, code: 'upstream_timeout', message: 'the provider did not answer in time' }],
  [
    'serviceunavailableexception',
    { status: 503, code: 'upstream_error', message: 'the provider failed while answering' },
  ],
  ['internalserverexception', { status: 500, code: 'upstream_error', message: 'the provider failed while answering' }],
]);

export const isException = ({ type }: StreamEvent): boolean => /(exception|error|failure)$/i.test(type);

/**
 * The error of a stream that fails. The client gets its message; only the log names the provider. The status is the one a caller
 * would have had at the start.
 */
export function streamFailure({ type, data }: StreamEvent): GatewayError {
  const message = messageIn(data);
  const text = [type, message].filter((part) => part !== undefined && part !== '').join(': ');
  const reason = reasonOf(text);
  const cause = new Error(`bedrock: ${text}`);
  const failure = EXCEPTIONS.get(type.toLowerCase());
  if (!failure) return failedAnswer(text, { cause, reason });
  const shown = failure.code === 'invalid_request' ? (message ?? failure.message) : failure.message;
  return new GatewayError(failure.code, shown, {
    cause,
    fault: { kind: 'status', status: failure.status, message: text, reason },
  });
}
