import { UNBUFFERED } from '../../host/http/reply.ts';
import type { ForwardedReply } from '../../host/pipeline/attempts/forward-attempt.ts';
import { hopNames } from './hop-headers.ts';
import { ADDRESSES, type AnswerPlace, relayedAddress, relayedLinks } from './relayed-address.ts';
import type { Scrub } from './scrub.ts';

/** What the gateway says itself on every answer: an upstream's own would contradict it. */
const OWN = new Set([
  'x-request-id',
  'content-security-policy',
  'permissions-policy',
  'x-content-type-options',
  'x-frame-options',
  'referrer-policy',
  'alt-svc',
]);

const isOwn = (name: string): boolean =>
  OWN.has(name) || name.startsWith('access-control-') || name.startsWith('x-gateway-');

const EVENTS = /^\s*text\/event-stream\b/i;

/** What is known of an answer beside its headers. */
export interface Relaying {
  readonly scrub: Scrub;
  readonly place: AnswerPlace;
}

/** An upstream's headers as the client gets them, line by line: without those of its connection, without the gateway's credential, and without the provider's own addresses. */
export function relayedHeaders(
  { rawHeaders, headers }: Pick<ForwardedReply, 'rawHeaders' | 'headers'>,
  { scrub, place }: Relaying,
  without: readonly string[] = [],
): string[] {
  const dropped = hopNames(headers['connection']);
  const kept: string[] = [];
  const isStream = EVENTS.test(headers['content-type'] ?? '') && !without.includes('content-type');
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const lower = name.toLowerCase();
    if (dropped.has(lower) || isOwn(lower) || without.includes(lower)) continue;
    if (isStream && lower === 'x-accel-buffering') continue;
    const value = rawHeaders[at + 1] ?? '';
    const shown = shownValue(lower, value, place);
    if (shown !== undefined) kept.push(name, scrub.header(shown));
  }
  return isStream ? [...kept, ...UNBUFFERED] : kept;
}

function shownValue(name: string, value: string, place: AnswerPlace): string | undefined {
  if (name === 'refresh') return undefined; // holds an address beside a time
  if (name === 'vary') return withoutOrigin(value);
  if (name === 'link') return relayedLinks(value, place);
  return ADDRESSES.has(name) ? relayedAddress(value, place) : value;
}

/** What an answer depends on beside the origin, which the gateway says itself: the upstream's own CORS headers stay behind. */
function withoutOrigin(vary: string): string | undefined {
  if (!/\borigin\b/i.test(vary)) return vary;
  const names = vary
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name.toLowerCase() !== 'origin');
  return names.length > 0 ? names.join(', ') : undefined;
}
