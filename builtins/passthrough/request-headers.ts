import type { IncomingMessage } from 'node:http';
import { setMember } from '../../host/contract/index.ts';
import type { RequestContext } from '../../host/http/context.ts';
import { hopNames } from './hop-headers.ts';

/** What the gateway says itself, or must not tell: the client's credential, its claims about where it comes from, its trace. */
const OWN = new Set([
  'authorization',
  'x-provider',
  'host',
  'content-length',
  'expect',
  'forwarded',
  'x-real-ip',
  'x-gateway-metadata',
  'x-gateway-session',
  'x-gateway-affinity',
  'x-gateway-tags',
  'x-user-id',
  'x-session-id',
  'baggage',
  'traceparent',
  'tracestate',
  'cookie',
  'cookie2',
  'http2-settings',
  'x-forwarded',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-originating-ip',
  'x-remote-ip',
  'x-remote-addr',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'x-original-url',
  'x-rewrite-url',
  'x-original-host', // some servers route by these instead of by the address that was checked
]);

/** Headers that are not credentials although their names sound like it. */
const HARMLESS = new Set(['idempotency-key', 'x-idempotency-key', 'sec-websocket-key', 'sec-token-binding']);

/** Names that credentials of some vendor travel under. */
const CREDENTIAL =
  /(?:^|[-_])(?:authorization|auth|apikey|keys?|tokens?|jwt|secrets?|password|passwd|passphrase|credentials?|signature|cookie)(?:[-_]|$)/;

export function isCredentialName(name: string): boolean {
  return CREDENTIAL.test(name) && !HARMLESS.has(name);
}

/** Which account of the vendor pays. Source: OpenAI API reference, "Authentication"; Google Cloud, "System parameters", 2026-11-27. */
const ACCOUNT: ReadonlySet<string> = new Set(['openai-organization', 'openai-project', 'x-goog-user-project']);

/** The account is that of the credential: a client that named another one would have it charged, or the credential refused for everyone. */
export function withoutAccounts(headers: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => !ACCOUNT.has(name.replaceAll('_', '-')));
  return Object.fromEntries(kept);
}

/** Browsers put a credential among the protocols they offer. Source: OpenAI API reference, "Realtime, WebSocket", 2026-11-22. */
const KEY_PROTOCOL = /^openai-insecure-api-key\./;

/**
 * The client's headers as they go on: without those of its connection, without any credential under whatever name, and with
 * where it comes from in the place of what it said of that itself. See docs/passthrough.md#what-is-changed-on-the-way.
 */
export function forwardedHeaders(
  request: IncomingMessage,
  { address }: RequestContext,
  withoutEncoding: boolean,
): Record<string, string> {
  const { headers } = request;
  const bearer = /^\s*\w+\s+(\S+)/.exec(headers.authorization ?? '')?.[1];
  const dropped = hopNames(headers.connection);
  const kept: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = [headers[name] ?? []].flat().join(', ');
    const meant = name.replaceAll('_', '-'); // servers that hand headers to programs as CGI does cannot tell them apart
    if (
      dropped.has(meant) ||
      dropped.has(name) ||
      OWN.has(meant) ||
      meant.startsWith('x-forwarded-') ||
      meant.startsWith('proxy-') ||
      isCredentialName(meant)
    )
      continue;
    if (bearer !== undefined && value.includes(bearer)) continue;
    if (withoutEncoding && name === 'accept-encoding') continue;
    const shown = name === 'sec-websocket-protocol' ? offeredProtocols(value) : value;
    if (shown !== '' || shown === value) setMember(kept, name, shown);
  }
  kept['x-forwarded-for'] = address;
  if (headers.host !== undefined) kept['x-forwarded-host'] = headers.host;
  kept['x-forwarded-proto'] = 'encrypted' in request.socket ? 'https' : 'http';
  return kept;
}

function offeredProtocols(value: string): string {
  return value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => !KEY_PROTOCOL.test(one))
    .join(', ');
}
