import { ERRORS, quoted } from '../../../host/contract/index.ts';
import { isTagName } from '../../../host/common/accounts/account-path.ts';
import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { nearest } from '../../../host/common/nearest.ts';
import { LOG_COLUMNS } from '../../../host/contract/log-columns.ts';
import type { LogSearch, SearchedColumn } from '../../../host/stores/log/log-search.ts';
import type { Query } from '../query.ts';

const MOST_WORDS = 10;
const MOST_ENTRIES = 5;
const TEXT = { least: 3, most: 200 } as const;
const LONGEST_TRACE = 64;
const METADATA = 'metadata.';

/** Outcomes of rows, and two words: all but `ok`, and failures of rows that say none. */
const OUTCOMES: readonly string[] = LOG_COLUMNS.outcome.values;
const FAILED = [...OUTCOMES.filter((outcome) => outcome !== 'ok'), 'unknown'];
const OUTCOME_WORDS = [...OUTCOMES, 'failed', 'unknown'];
const CODES = Object.keys(ERRORS);

/** Parameters whose whole text is compared with a column. */
const EQUAL = {
  reason: 'reason',
  target: 'target',
  surface: 'surface',
  user: 'user_id',
  address: 'address',
  cache: 'cache',
  session_id: 'session_id',
  price_line: 'price_line',
  over_from: 'over_from',
} as const satisfies Readonly<Record<string, SearchedColumn>>;

/** Parameters that make a call a search, beside entries of the metadata. In the order in which they are shown. */
const SEARCHING = [
  'status',
  'code',
  'outcome',
  ...Object.keys(EQUAL),
  'account',
  'tag',
  'min_duration_ms',
  'min_cost_usd',
  'text',
];
/** Parameters of the listing that came with searches, for the document of the API. */
export const SEARCH_PARAMETERS: readonly string[] = ['until', 'trace_id', ...SEARCHING, 'sort', 'cursor'];

/** What of a query is asked of rows beside their names and `since`. See docs/admin.md#searches. */
export interface AskedSearch {
  readonly search: LogSearch;
  /** Whether a filter is among them that only a search has. */
  readonly isSearch: boolean;
  /** As they were sent, by their names. */
  readonly given: Readonly<Record<string, string>>;
}

export function readSearch(query: Query): AskedSearch {
  const entries = query.named(METADATA, MOST_ENTRIES);
  const equal = Object.entries(EQUAL).flatMap(([name, column]) => {
    const value = query.filter(name);
    return value === undefined ? [] : [[column, value] as const];
  });
  query.oneOf('cache', LOG_COLUMNS.cache.values);
  const sent = [...SEARCH_PARAMETERS.map((name) => [name, query.text(name)] as const), ...prefixed(entries)];
  const given = Object.fromEntries(sent.filter(([, text]) => text !== ''));
  const search: LogSearch = {
    traceId: traceOf(query),
    statuses: wordsOf(query, 'status')?.map(statusRange),
    codes: wordsOf(query, 'code')?.map((word) => knownWord('code', word, CODES)),
    outcomes: wordsOf(query, 'outcome')?.flatMap((word) => outcomesOf(word)),
    equal: equal.length === 0 ? undefined : Object.fromEntries(equal),
    account: query.account(),
    tag: tagOf(query),
    metadata: entries.length === 0 ? undefined : Object.fromEntries(entries),
    minDurationMs: query.amount('min_duration_ms'),
    minCostUsd: query.amount('min_cost_usd'),
    text: textOf(query),
  };
  const isSearch = entries.length > 0 || [...SEARCHING, 'sort', 'cursor'].some((name) => query.text(name) !== '');
  return { search, isSearch, given };
}

/** Parameters of a search that sums do not take: they find rows, and have no part in a figure. */
const NOT_SUMMED = ['text', 'trace_id', 'sort', 'cursor'];
/** Parameters of the statistics that came with searches, for the document of the API. */
export const SUMMED_PARAMETERS: readonly string[] = SEARCH_PARAMETERS.filter((name) => !NOT_SUMMED.includes(name));

/** What of a query is asked of the rows that are summed. */
export function statisticsSearch(query: Query): AskedSearch {
  const unfit = NOT_SUMMED.find((name) => query.text(name) !== '');
  if (unfit !== undefined) throw invalidRequest(`${unfit} is not a filter of statistics; leave it out`);
  return readSearch(query);
}

const prefixed = (entries: readonly (readonly [string, string])[]): (readonly [string, string])[] =>
  entries.map(([name, value]) => [`${METADATA}${name}`, value]);

function traceOf(query: Query): string | undefined {
  const text = query.filter('trace_id');
  if (text !== undefined && text.length > LONGEST_TRACE)
    throw invalidRequest(`trace_id has ${text.length} characters, the limit is ${LONGEST_TRACE}`);
  return text?.toLowerCase();
}

function tagOf(query: Query): string | undefined {
  const tag = query.filter('tag');
  if (tag !== undefined && !isTagName(tag)) throw invalidRequest(`tag is ${quoted(tag)}, which names no tag`);
  return tag;
}

function textOf(query: Query): string | undefined {
  const text = query.filter('text');
  if (text !== undefined && (text.length < TEXT.least || text.length > TEXT.most))
    throw invalidRequest(`text has ${text.length} characters; use ${TEXT.least} to ${TEXT.most}`);
  return text;
}

/** Words between commas, without blanks around them; an empty one is refused, because it may be a variable without a value. */
function wordsOf(query: Query, name: string): readonly string[] | undefined {
  const words = query
    .filter(name)
    ?.split(',')
    .map((word) => word.trim());
  if (words?.includes('')) throw invalidRequest(`${name} has an empty entry`);
  if (words && words.length > MOST_WORDS)
    throw invalidRequest(`${name} has ${words.length} entries, the limit is ${MOST_WORDS}`);
  return words;
}

function statusRange(word: string): readonly [number, number] {
  if (/^[1-5]\d\d$/.test(word)) return [Number(word), Number(word)];
  if (/^[1-5]xx$/.test(word)) return [Number(word[0]) * 100, Number(word[0]) * 100 + 99];
  throw invalidRequest(`status has ${quoted(word)}; use statuses such as 429, or classes such as 5xx`);
}

function outcomesOf(word: string): readonly string[] {
  return word === 'failed' ? FAILED : [knownWord('outcome', word, OUTCOME_WORDS)];
}

function knownWord(name: string, word: string, known: readonly string[]): string {
  if (known.includes(word)) return word;
  const near = nearest(word, known);
  throw invalidRequest(
    `${name} has ${quoted(word)}, which is not known${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}
