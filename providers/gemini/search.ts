import type { CallInfo, ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven } from 'gw/common-wire';
import { thinkingTraits } from './models.ts';

export interface SearchPlan {
  readonly tools: readonly Fields[];
  readonly ignored: readonly string[];
  readonly bounded: readonly string[];
}

const NONE: SearchPlan = { tools: [], ignored: [], bounded: [] };

/**
 * `web_search_options` as the vendor's search, which grounds the answer. It is left out, and reported, beside functions:
 * they cannot be called in the same request, or only when what the search did is returned on the next turn, for which the
 * common wire has no place. So it is for an answer in JSON by models before 3, which are those that know no levels of thinking. How much it reads and from where it searches
 * cannot be said. Sources: ai.google.dev, "Grounding with Google Search", "Combine built-in tools and function calling",
 * 2026-11-22.
 */
export function planSearch(
  { web_search_options: asked, response_format: format }: ChatRequest,
  call: Pick<CallInfo, 'facts'>,
  hasFunctions: boolean,
): SearchPlan {
  if (!isGiven(asked)) return NONE;
  const wantsJson = format?.type === 'json_object' || format?.type === 'json_schema';
  if (!isFields(asked) || hasFunctions || (wantsJson && thinkingTraits(call).style !== 'level'))
    return { ...NONE, ignored: ['web_search_options'] };
  const { search_context_size: size, user_location: place } = asked;
  const isUsual = (!isGiven(size) || size === 'medium') && !isGiven(place);
  return { tools: [{ googleSearch: {} }], ignored: [], bounded: isUsual ? [] : ['web_search_options'] };
}
