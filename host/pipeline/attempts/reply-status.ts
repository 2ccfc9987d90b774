/** What the head of a provider's reply says: whether it is an answer, and which request of the vendor's it answers. */
import { type GatewayError, type Surface, type WireReply } from '../../contract/index.ts';
import { replyError } from '../../upstream/fault.ts';
import type { Attempt } from './attempt.ts';

/** These are answered with 200 alone; elsewhere any 2xx is an answer. See docs/reference/providers.md#whole-answers. */
const EXACTLY_OK: ReadonlySet<Surface> = new Set([
  'chat',
  'completions',
  'messages',
  'generate_content',
  'responses.translated',
  'images',
  'images.edits',
  'rerank',
]);

export function isSuccess(surface: Surface, status: number): boolean {
  return status === 200 || (status > 200 && status < 300 && !EXACTLY_OK.has(surface));
}

/** The error that a reply with another status is. */
export function failedReply(
  { exchange, provider: { module, ref } }: Attempt,
  reply: WireReply & { readonly body: Uint8Array },
  now: number,
): GatewayError {
  exchange.routing.upstreamRequestId = requestIdOf(reply.headers);
  return replyError(module, reply, now, ref.file);
}

/** Notes what the head of an answer says of it: its id at the vendor, and the tier of service that it was made in. */
export function noteHead(
  { exchange: { routing }, provider: { module } }: Attempt,
  headers: Readonly<Record<string, string>>,
): void {
  routing.upstreamRequestId = requestIdOf(headers);
  if (module.tierHeader !== undefined) routing.answeredTier = headers[module.tierHeader];
}

/** The vendor's id of the request, for its support. */
const requestIdOf = (headers: Readonly<Record<string, string>>): string | undefined =>
  headers['request-id'] ?? headers['x-request-id'] ?? headers['x-amzn-requestid'];
