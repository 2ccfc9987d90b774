import { Buffer } from 'node:buffer';
import { GatewayError, parseJson, type ProviderFault, type WireReply } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** How the services word a prompt that is too long. They give it no code of its own. */
const TOO_LONG = /exceeds the maximum number of tokens|input token count|input context is too long/i;
/** How they word a prompt that their policy refuses. Source: Vertex AI documentation, "Responsible AI and usage guidelines for Imagen", 2026-11-21. */
const REFUSED =
  /responsible ai|usage guidelines|blocked by (?:our|the) safety|safety (?:filters?|policy)|prohibited content/i;

/** The fault of an error body: `{error: {code, message, status, details}}`, also as the one item of a list. Source: AIP-193, 2026-11-21. */
export function googleFault(reply: WireReply): ProviderFault | undefined {
  if (!(reply.body instanceof Uint8Array)) return undefined;
  const error = errorOf(parseJson(Buffer.from(reply.body).toString('utf8')));
  if (!error) return undefined;
  const { message, details } = error;
  const text = typeof message === 'string' && message.trim() !== '' ? message.trim() : undefined;
  const items = Array.isArray(details) ? details.filter(isFields) : [];
  return {
    message: text,
    reason: reasonOf(reply.status, text),
    // The vendor answers a wrong key with 400.
    ...(items.some(({ reason }) => reason === 'API_KEY_INVALID') && { status: 401 }),
    retryAfterMs: items.map(({ retryDelay }) => durationMs(retryDelay)).find((wait) => wait !== undefined),
  };
}

function reasonOf(status: number, text = ''): ProviderFault['reason'] {
  if (status !== 400) return undefined;
  if (TOO_LONG.test(text)) return 'context_length';
  return REFUSED.test(text) ? 'content_policy' : undefined;
}

/** `34s`, `1.5s`; `undefined` for anything else, and for no wait at all. */
function durationMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' ? Number(/^(\d{1,6}(?:\.\d{1,9})?)s$/.exec(value)?.[1]) : NaN;
  return seconds > 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** The error object of a body or of a stream's frame; `undefined` for another body. */
export function errorOf(body: unknown): Fields | undefined {
  const [first = body]: readonly unknown[] = Array.isArray(body) ? body : [];
  if (!isFields(first)) return undefined;
  const { error } = first;
  if (typeof error === 'string' && error !== '') return { message: error };
  return isFields(error) && Object.keys(error).length > 0 ? error : undefined;
}

/** A refusal of content inside a reply that says 200: the caller gets a 400, as for such refusals of other vendors. */
export function contentRefused(message: string): GatewayError {
  return new GatewayError('invalid_request', message, {
    fault: { kind: 'status', status: 400, reason: 'content_policy', message },
  });
}
