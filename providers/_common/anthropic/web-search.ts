import type { ChatRequest } from 'gw/contract';
import { type Fields, isFields, isGiven } from '../fields.ts';
import type { MessagesVariant } from './variant.ts';

interface SearchPlan {
  readonly tools: readonly Fields[];
  readonly ignored: readonly string[];
}

export const isSearchTool = ({ type }: Fields): boolean => typeof type === 'string' && type.startsWith('web_search_');

/**
 * `web_search_options` as the vendor's search tool, unless the caller brings that itself. The model decides whether it
 * searches, and nothing says how much of the pages it reads. Sources: OpenAI API reference, "Chat completions",
 * `web_search_options`; platform.claude.com, "Web search tool"; 2026-11-22.
 */
export function planSearch(
  { web_search_options: asked }: ChatRequest,
  { searches }: MessagesVariant,
  hasOwn: boolean,
): SearchPlan {
  if (!isGiven(asked)) return { tools: [], ignored: [] };
  if (!searches || !isFields(asked)) return { tools: [], ignored: ['web_search_options'] };
  const { search_context_size: size } = asked;
  const ignored = isGiven(size) && size !== 'medium' ? ['web_search_options.search_context_size'] : [];
  const place = locationOf(asked['user_location']);
  return {
    tools: hasOwn ? [] : [{ type: 'web_search_20250305', name: 'web_search', ...(place && { user_location: place }) }],
    ignored,
  };
}

const PLACES = ['city', 'region', 'country', 'timezone'] as const;

function locationOf(location: unknown): Fields | undefined {
  const place = isFields(location) ? location['approximate'] : undefined;
  if (!isFields(place)) return undefined;
  const known = PLACES.flatMap((name) =>
    typeof place[name] === 'string' && place[name] !== '' ? [[name, place[name]] as const] : [],
  );
  return known.length > 0 ? { type: 'approximate', ...Object.fromEntries(known) } : undefined;
}
