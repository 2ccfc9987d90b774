import { type ChatBody, type Fields, type Notes, translateWebSearch, type WebSearch } from 'gw/common-wire';

/** Models that search by themselves, and those that search with a tool. Source: Groq documentation, "Web search" and "Browser search", 2026-11-22. */
const COMPOUND = /^(?:groq\/)?compound/;
const BROWSES = /^openai\/gpt-oss/;

/** Web search as the model has it; others have none. */
export function withSearch(body: ChatBody, notes: Notes): ChatBody {
  const model = String(body['model']);
  if (COMPOUND.test(model)) return translateWebSearch(body, notes, searchSettings, ['contextSize']);
  if (BROWSES.test(model)) return translateWebSearch(body, notes, browserTool, ['contextSize', 'location']);
  return translateWebSearch(body, notes, () => undefined);
}

/** The place is a country by its name. Source: groq-sdk 1.6.0, SearchSettings, 2026-11-22. */
function searchSettings({ location }: WebSearch, { search_settings: own }: ChatBody): Fields {
  const country = countryName(location?.['country']);
  return country === undefined ? {} : { search_settings: { country, ...(own as Fields | undefined) } };
}

function browserTool(_search: WebSearch, { tools }: ChatBody): Fields {
  return { tools: [...(Array.isArray(tools) ? tools : []), { type: 'browser_search' }] };
}

/** The name of a country by its two letters; another text is taken for a name. */
function countryName(country: unknown): string | undefined {
  if (typeof country !== 'string' || country === '') return undefined;
  return /^[A-Za-z]{2}$/.test(country)
    ? new Intl.DisplayNames('en', { type: 'region' }).of(country.toUpperCase())?.toLowerCase()
    : country;
}
