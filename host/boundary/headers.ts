import { isFields } from '../contract/json/fields.ts';

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** What no header value holds: control characters, and what does not fit into a byte. */
const NOT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Headers of the connection itself: who writes a message decides them, not what the message says. Source: RFC 9110, 7.6.1 and 8.6. */
const OF_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Those that nearly every request carries, in lower case: legal, and not of the connection. */
const USUAL: ReadonlySet<string> = new Set(['accept', 'authorization', 'content-type', 'x-api-key']);

/** What the gateway itself says of each answer. */
const OF_REPLIES: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'date',
  'host',
  'retry-after',
  'server-timing',
  'x-request-id',
  'x-gateway-provider',
  'x-gateway-target',
  'x-gateway-model',
  'x-gateway-attempts',
  'x-gateway-overhead-ms',
  'x-gateway-upstream-model',
  'x-gateway-ignored-params',
]);

/** What is wrong with the headers that a provider adds to a request, if anything. */
export function headersProblem(headers: unknown): string | undefined {
  if (!isFields(headers)) return 'it returned no headers: an object of texts';
  for (const name in headers) {
    const value = headers[name];
    if (!USUAL.has(name)) {
      if (!NAME.test(name)) return `the header name ${JSON.stringify(name)} is not legal`;
      if (OF_CONNECTION.has(name.toLowerCase())) return `the header "${name}" belongs to the connection`;
    }
    if (typeof value !== 'string') return `the header "${name}" is not a text`;
    if (NOT_IN_VALUE.test(value)) return `the value of the header "${name}" holds characters that no header may hold`;
  }
  return undefined;
}

/** What is wrong with a header that a plugin adds to an answer, if anything. Values are encoded as they leave. */
export function replyHeaderProblem(name: unknown, value: unknown): string | undefined {
  if (typeof name !== 'string' || !NAME.test(name)) return `the header name ${JSON.stringify(name)} is not legal`;
  const lower = name.toLowerCase();
  if (OF_CONNECTION.has(lower)) return `the header "${lower}" belongs to the connection`;
  if (OF_REPLIES.has(lower)) return `the header "${lower}" belongs to the gateway`;
  return typeof value === 'string' ? undefined : `the header "${lower}" is not a text`;
}

/** Whether a text can be the value of a header as it is. */
export const isHeaderValue = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && !NOT_IN_VALUE.test(value);
