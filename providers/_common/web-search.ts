import type { ChatBody } from './chat.ts';
import { type Fields, isFields, isGiven, withoutAbsent } from './fields.ts';
import type { Notes } from './notes.ts';

/** What `web_search_options` of the common wire say; `undefined` for what they leave open. */
export interface WebSearch {
  /** `low`, `medium` or `high`. */
  readonly contextSize: unknown;
  /** City, country (two letters), region and time zone, as far as they are given. */
  readonly location: Fields | undefined;
}

/**
 * Says `web_search_options` in the vendor's own fields, which `express` makes of the body; `undefined` where the model
 * cannot search: then the field is reported as ignored. Settings that the vendor has no field for are in `unsaid`.
 */
export function translateWebSearch(
  body: ChatBody,
  notes: Notes,
  express: (search: WebSearch, rest: ChatBody) => Fields | undefined,
  unsaid: readonly (keyof WebSearch)[] = [],
): ChatBody {
  const { web_search_options: asked, ...rest } = body;
  if (asked === undefined) return body;
  if (!isGiven(asked)) return rest;
  const search = readSearch(asked);
  const fields = search && express(search, rest);
  if (!fields) notes.ignored.push('web_search_options');
  else if (unsaid.some((name) => search[name] !== undefined)) notes.bounded.push('web_search_options');
  return { ...rest, ...fields };
}

/** `undefined` for what is not an object. */
function readSearch(asked: unknown): WebSearch | undefined {
  if (!isFields(asked)) return undefined;
  const { search_context_size: contextSize, user_location: place } = asked;
  const given = isFields(place) && isFields(place['approximate']) ? place['approximate'] : place;
  const { city, country, region, timezone } = isFields(given) ? given : {};
  const location = withoutAbsent({ city, country, region, timezone });
  return { contextSize: contextSize ?? undefined, location: Object.keys(location).length > 0 ? location : undefined };
}
