import { SURFACES } from '../contract/index.ts';
import type { LiveExchange } from '../pipeline/live-exchange.ts';
import type { Redactor } from '../log/redact.ts';
import { shownModel, shownNames } from '../pipeline/shown.ts';
import { kindOf } from '../pipeline/target.ts';
import type { FlatHeaders } from './reply.ts';

/**
 * Who served, after how many attempts, of what is forwarded only who; nothing while no target was attempted, and nothing for a plugin's answer.
 * See docs/reference/data-plane.md#attribution.
 */
export function attributionHeaders(exchange: LiveExchange, redactor: Redactor, isAnswer = true): string[] {
  const headers: string[] = [];
  const {
    routing: { lastTarget, upstreamModel, reportedModel, attempts, ignoredParams },
    plugins: { answeredBy, replyHeaders: added },
  } = exchange;
  if (SURFACES[exchange.surface].translator === undefined) {
    if (lastTarget && exchange.delivery.isForwarded) headers.push('X-Gateway-Provider', kindOf(lastTarget));
  } else if (lastTarget && answeredBy === undefined) {
    headers.push(
      'X-Gateway-Provider',
      kindOf(lastTarget),
      'X-Gateway-Target',
      lastTarget.virtualKey,
      'X-Gateway-Model',
      headerText(shownModel(upstreamModel ?? '', redactor), redactor),
      'X-Gateway-Attempts',
      String(attempts),
    );
    if (reportedModel !== undefined && reportedModel !== upstreamModel)
      headers.push('X-Gateway-Upstream-Model', headerText(shownModel(reportedModel, redactor), redactor));
    if (ignoredParams.length > 0) headers.push('X-Gateway-Ignored-Params', ignoredText(exchange, redactor));
  }
  const affinity = !isAnswer || exchange.delivery.early?.isOpen ? undefined : exchange.affinity; // of a late one nothing is known yet
  if (affinity !== undefined) headers.push('X-Gateway-Affinity', affinity);
  if (added) for (const [name, value] of added.values()) headers.push(name, headerText(value, redactor));
  return headers;
}

/** Parameters and members that the provider has no place for, as a header shows them. */
export function ignoredText({ routing: { ignoredParams }, sent }: LiveExchange, redactor: Redactor): string {
  return sent
    ? headerText(ignoredParams.join(', '), redactor, MAX_PATHS)
    : headerText(shownNames(ignoredParams), redactor);
}

/** Who served a stream whose headers could not say it: they left before. `shownIgnored` is what they say of ignored parameters. */
export function servedBy(exchange: LiveExchange, redactor: Redactor, shownIgnored: string): string {
  const { lastTarget, upstreamModel = '', attempts } = exchange.routing;
  const model = oneWord(headerText(shownModel(upstreamModel, redactor), redactor));
  const ignored = ignoredText(exchange, redactor);
  const more = ignored === shownIgnored ? '' : ` ignored=${ignored.replaceAll(', ', ',')}`;
  const session = exchange.affinity === undefined ? '' : ` affinity=${exchange.affinity}`;
  return `gw target=${oneWord(lastTarget?.virtualKey ?? '')} model=${model} attempts=${attempts}${session}${more}`;
}

const oneWord = (text: string): string => text.replaceAll(' ', '%20');

/**
 * Who served an answer, and how long gateway and provider took, in milliseconds. The overhead is stated for unary answers
 * that have any.
 */
export function replyHeaders(exchange: LiveExchange, redactor: Redactor): FlatHeaders {
  const headers = attributionHeaders(exchange, redactor);
  const upstream = exchange.measured.upstreamMs;
  const own = exchange.elapsedMs() - upstream;
  const shown = own.toFixed(3);
  headers.push('Server-Timing', `gw;dur=${shown}, upstream;dur=${upstream.toFixed(3)}`);
  if (!exchange.streaming && exchange.plugins.answeredBy === undefined && own > 0)
    headers.push('X-Gateway-Overhead-Ms', shown);
  return headers;
}

/** Bytes of a header whose text grows with what a client sent or a plugin chose: proxies and clients take few kilobytes of all. */
const MAX_HEADER = 1024;
/** Bytes of the header with the paths that were not carried. See docs/reference/ingress.md#what-is-lost. */
const MAX_PATHS = 4200;
const PRINTABLE = /^[\x20-\x7e]*$/;
const ELLIPSIS = encodeURIComponent('…');

/** Redacted; what a header cannot hold is percent-encoded; what is too long ends with an ellipsis. */
function headerText(words: string, redactor: Redactor, most = MAX_HEADER): string {
  const text = redactor.redact(words);
  if (text.length <= most && PRINTABLE.test(text)) return text;
  const pieces: string[] = [];
  let bytes = 0;
  let kept = 0; // pieces that leave room for an ellipsis
  for (const character of text) {
    const piece = PRINTABLE.test(character) ? character : encodeURIComponentSafely(character);
    if (bytes + piece.length > most) return pieces.slice(0, kept).join('') + ELLIPSIS;
    pieces.push(piece);
    bytes += piece.length;
    if (bytes <= most - ELLIPSIS.length) kept = pieces.length;
  }
  return pieces.join('');
}

function encodeURIComponentSafely(character: string): string {
  try {
    return encodeURIComponent(character);
  } catch {
    return '%EF%BF%BD'; // half of a surrogate pair
  }
}
