import type { ForwardedReply } from '../../host/pipeline/forward-attempt.ts';
import { hopNames } from './hop-headers.ts';
import type { Scrub } from './scrub.ts';

/** What the gateway says itself on every answer: an upstream's own would contradict it. */
const OWN = new Set([
  'x-request-id', 'content-security-policy', 'permissions-policy', 'x-content-type-options', 'x-frame-options', 'referrer-policy', 'alt-svc',
]);

const isOwn = (name: string): boolean => OWN.has(name) || name.startsWith('access-control-') || name.startsWith('x-gateway-');

/** An upstream's headers as the client gets them, line by line: without those of its connection, and without the gateway's credential. */
export function relayedHeaders({ rawHeaders, headers }: Pick<ForwardedReply, 'rawHeaders' | 'headers'>, scrub: Scrub, without: readonly string[] = []): string[] {
  const dropped = hopNames(headers['connection']);
  const kept: string[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const lower = name.toLowerCase();
    if (dropped.has(lower) || isOwn(lower) || without.includes(lower)) continue;
    const value = rawHeaders[at + 1] ?? '';
    const shown = lower === 'vary' ? withoutOrigin(value) : value;
    if (shown !== undefined) kept.push(name, scrub.header(shown));
  }
  return kept;
}

/** What an answer depends on beside the origin, which the gateway says itself: the upstream's own CORS headers stay behind. */
function withoutOrigin(vary: string): string | undefined {
  if (!/\borigin\b/i.test(vary)) return vary;
  const names = vary.split(',').map((name) => name.trim()).filter((name) => name !== '' && name.toLowerCase() !== 'origin');
  return names.length > 0 ? names.join(', ') : undefined;
}
