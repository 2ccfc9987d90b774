/** Figures in what vendors say: token counts of an overflow, and how long to wait. Every pattern begins with words of its own and has bounded parts, so that no text takes long. */
import type { FaultTokens } from '../contract/index.ts';

const N = String.raw`(\d{1,12})(?!\d)`;
const patterns = (...texts: readonly string[]): readonly RegExp[] =>
  texts.map((text) => new RegExp(text.replaceAll('#', N)));

/** Where the limit stands, in lower case. The first that fits counts. */
const LIMITS = patterns(
  'maximum context length is #',
  'maximum context length: #',
  String.raw`maximum context length of \S{1,200} is #`,
  'too large for model with # maximum',
  'maximum prompt length is #',
  'model token limit: #',
  'limit:? #, requested',
  'must be <= #',
  String.raw`context length \(# tokens`,
  String.raw`available context size \(# tokens`,
  'maximum allowed input length of #',
  'tokens in the prompt cannot exceed #',
  String.raw`maximum number of tokens allowed \(#`,
  'tokens > # maximum',
  String.raw`exceed context limit: \d{1,12} \+ \d{1,12} > #`,
  String.raw`input length should be \[\d{1,12}, #`,
);

/** Where it stands what was asked for; of several figures the sum. */
const ASKED = patterns(
  'resulted in # tokens',
  'requested # output tokens and your prompt contains at least #',
  'requested (?:about )?# tokens',
  'prompt contains # tokens',
  'request contains # tokens',
  String.raw`\(requested: #`,
  'limit:? \\d{1,12}, requested #',
  'given: # `inputs` tokens and #',
  'prompt is too long: #',
  String.raw`the input \(# tokens`,
  String.raw`request \(# tokens`,
  'input length # exceeds',
  '- received #',
  String.raw`input token count \(#`,
  String.raw`exceed context limit: # \+ # >`,
  'will take # tokens',
);

/** Token counts in a message in lower case; `undefined` where it states none. */
export function tokensIn(text: string): FaultTokens | undefined {
  const [asked, limit] = [figureIn(text, ASKED), figureIn(text, LIMITS)];
  if (asked === undefined && limit === undefined) return undefined;
  return { ...(asked !== undefined && { asked }), ...(limit !== undefined && { limit }) };
}

function figureIn(text: string, places: readonly RegExp[]): number | undefined {
  for (const place of places) {
    const [, ...figures] = place.exec(text) ?? [];
    if (figures.length > 0) return figures.reduce((sum, figure) => sum + Number(figure), 0);
  }
  return undefined;
}

const MAX_WAIT_MS = 10 * 60_000;
const AGAIN = /try again in ((?:\d{1,4}h)?(?:\d{1,5}m(?!s))?(?:\d{1,6}(?:\.\d{1,9})?m?s)?)/;
const PART = /(\d{1,6}(?:\.\d{1,9})?)(ms|h|m|s)/g;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** How long a message in lower case asks to wait, such as `try again in 1m2.5s`; at most ten minutes. */
export function waitIn(text: string): number | undefined {
  const [, said = ''] = AGAIN.exec(text) ?? [];
  let waitMs = 0;
  for (const [, figure, unit = ''] of said.matchAll(PART)) waitMs += Number(figure) * (UNIT_MS[unit] ?? 0);
  return waitMs > 0 ? Math.min(Math.ceil(waitMs), MAX_WAIT_MS) : undefined;
}
