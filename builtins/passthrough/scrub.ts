import type { OutgoingRequest } from '../../host/contract/index.ts';
import type { Redactor } from '../../host/log/redact.ts';
import { isCredentialName } from './request-headers.ts';

/** Shorter values are words that stand in honest text. Source: data-plane reference 8.1. */
const MIN_SECRET = 12;
const MARKER = '[REDACTED:GATEWAY_CREDENTIAL]';

/** Takes credentials out of what came back for a request: the one that it carried, and those that are known. */
export interface Scrub {
  /** Of a header: known values exactly as they are, since what only looks like one belongs to the provider. Source: data-plane reference 8.1. */
  header(value: string): string;
  /** Of the body of a refusal: also what has the shape of a credential. Source: observability reference 4. */
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
