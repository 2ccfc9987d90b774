import type { OutgoingRequest } from '../../host/contract/index.ts';
import type { Redactor } from '../../host/log/redact.ts';
import { isCredentialName } from './request-headers.ts';

/** Shorter values are words that stand in honest text. See docs/reference/observability.md#redaction. */
const MIN_SECRET = 12;
const MARKER = '[REDACTED:GATEWAY_CREDENTIAL]';

/** Takes credentials out of what came back for a request: the one that it carried, and those that are known. */
export interface Scrub {
  /** A header without the values that are known, exactly as they are: what only looks like one belongs to the provider. See docs/passthrough.md#what-is-changed-on-the-way. */
  header(value: string): string;
  /** The body of a refusal, also without what has the shape of a credential. See docs/reference/observability.md#redaction. */
  body(text: string): string;
}

/** `before` is the request without its credential, `sent` the same with it. */
export function createScrub(before: OutgoingRequest, sent: OutgoingRequest, redactor: Redactor): Scrub {
  const secrets = Object.entries(sent.headers)
    .filter(([name, value]) => before.headers[name] !== value && isCredentialName(name.toLowerCase()))
    .flatMap(([, value]) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((secret) => secret.length >= MIN_SECRET);
  const hide = (text: string): string => secrets.reduce((clean, secret) => clean.replaceAll(secret, MARKER), text);
  return { header: (value) => redactor.hideKnown(hide(value)), body: (text) => redactor.redact(hide(text)) };
}
