import type { LiveExchange } from '../pipeline/exchange.ts';
import { shownModel } from '../pipeline/walk.ts';
import type { Redactor } from '../log/redact.ts';
import type { FlatHeaders } from './reply.ts';

/**
 * Who served, after how many attempts; nothing while no target was attempted, and nothing for a plugin's answer.
 * Source: specification 4.3 rule 4, data-plane reference 4.
 */
export function attributionHeaders(exchange: LiveExchange, redactor: Redactor): string[] {
  const headers: string[] = [];
  const { lastTarget, answeredBy, reportedModel, ignoredParams, replyHeaders: added } = exchange;
  if (lastTarget && answeredBy === undefined) {
    headers.push(
      'X-Gateway-Provider', lastTarget.provider?.module.name ?? lastTarget.virtualKey,
      'X-Gateway-Target', lastTarget.virtualKey,
      'X-Gateway-Model', headerText(shownModel(exchange.upstreamModel ?? '', redactor), redactor),
      'X-Gateway-Attempts', String(exchange.attempts),
    );
    if (reportedModel !== undefined && reportedModel !== exchange.upstreamModel) headers.push('X-Gateway-Upstream-Model', headerText(shownModel(reportedModel, redactor), redactor));
    if (ignoredParams.length > 0) headers.push('X-Gateway-Ignored-Params', headerText(ignoredParams.join(', '), redactor));
  }
  for (const name in added) headers.push(name, headerText(added[name] ?? '', redactor));
  return headers;
}

/**
 * The same for an answer, and how long gateway and provider took, in milliseconds. The overhead is told for unary answers
 * that have any.
 */
export function replyHeaders(exchange: LiveExchange, redactor: Redactor): FlatHeaders {
  const headers = attributionHeaders(exchange, redactor);
  const upstream = exchange.upstreamMs;
  const own = exchange.elapsedMs() - upstream;
  const shown = own.toFixed(3);
  headers.push('Server-Timing', `gw;dur=${shown}, upstream;dur=${upstream.toFixed(3)}`);
  if (!exchange.streaming && exchange.answeredBy === undefined && own > 0) headers.push('X-Gateway-Overhead-Ms', shown);
  return headers;
}

/** Model names come from clients and configurations: redacted, and what a header cannot hold is percent-encoded. */
function headerText(words: string, redactor: Redactor): string {
  const text = redactor.redact(words);
  return /^[\x20-\x7e]*$/.test(text) ? text : text.replace(/[^\x20-\x7e]/gu, (character) => encodeURIComponentSafely(character));
}

function encodeURIComponentSafely(character: string): string {
  try {
    return encodeURIComponent(character);
  } catch {
    return '%EF%BF%BD'; // half of a surrogate pair
  }
}
