import type { Exchange, Surface } from '../../host/contract/index.ts';
import { ceilingOf, type Estimate } from '../../host/contract/money/pricing.ts';
import { promptSize } from '../../host/contract/money/prompt-estimate.ts';
import type { CallPrices } from '../../host/generation/call-prices.ts';

/** How long a call may be, by what is known of the targets that may serve it. */
export type CallLimits = Pick<CallPrices, 'longestAnswer' | 'longestContext'>;

/** Surfaces whose calls are bound by the bytes that are sent; the others are paid by what is asked for, and there the estimate is the bound. */
const BOUND_BY_BYTES: ReadonlySet<Surface> = new Set(['chat', 'completions', 'embeddings', 'responses', 'passthrough']);
/** Tokens that vendors add to what is sent, for tools above all. */
const ADDED = 1000;
/**
 * A part of which few bytes may be many tokens, or that stands elsewhere: as the name of a member or as a word. Texts of the client are never
 * found, because quotation marks are escaped in them.
 */
const NO_TEXT =
  /"(?:image|image_url|input_image|audio|input_audio|video|video_url|file|file_id|file_ids|file_url|file_data|input_file|document|source|inline_data|inlineData|fileData|media_type|mime_type|mimeType|previous_response_id|conversation|cached_content|cachedContent|container)"|"prompt":\{/;

/**
 * The most that a call may use: a token of text is at least one byte, and an answer is no longer than its ceiling. `undefined` where nothing
 * says how long it may be.
 */
export function callBound(
  exchange: Exchange,
  reserveTokens: number | undefined,
  limits: CallLimits,
): Estimate | undefined {
  const { surface, request } = exchange;
  if (!BOUND_BY_BYTES.has(surface)) return undefined;
  const json = (request as { readonly json?: unknown }).json;
  const isForwarded = surface === 'responses' || surface === 'passthrough';
  if (surface === 'passthrough' && json === undefined && !exchange.bodyBytes) return NOTHING_SENT;
  const body = JSON.stringify(isForwarded ? (json ?? null) : (exchange.clientRequest?.value ?? request));
  const bytes = Math.max(Buffer.byteLength(body), (isForwarded && exchange.bodyBytes) || 0) + ADDED;
  const context = limits.longestContext(exchange);
  const prompt =
    NO_TEXT.test(body) || (isForwarded && json === undefined) ? context : Math.min(bytes, context ?? bytes);
  const completion = surface === 'embeddings' ? 0 : mostAnswered(exchange, reserveTokens, limits);
  if (prompt === undefined || completion === undefined) return undefined;
  const { writesCache, holdsSound, holdsImages } = promptSize(exchange);
  return { prompt, completion, writesCache, holdsSound, holdsImages };
}

/** Whether a call can be bound only by what is known of it, and not by an estimate. */
export const needsBound = ({ surface }: Exchange): boolean => BOUND_BY_BYTES.has(surface);

const NOTHING_SENT: Estimate = { prompt: 0, completion: 0 };

function mostAnswered(
  exchange: Exchange,
  reserveTokens: number | undefined,
  { longestAnswer }: CallLimits,
): number | undefined {
  const longest = longestAnswer(exchange);
  const { max_completion_tokens: ceiling, max_tokens: older } = exchange.request;
  const isDeclared = typeof (ceiling ?? older) === 'number';
  const undeclared = reserveTokens ?? longest;
  return isDeclared || undeclared !== undefined ? ceilingOf(exchange, { undeclared, longest }) : undefined;
}
