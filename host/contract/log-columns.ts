import type { LogColumn } from './log-column.ts';

/**
 * Every column of the request log, in the order in which rows are shown. The types of a row, the
 * columns of the table and of its migrations, what is written and read, the schema of the HTTP API
 * and the types of the dashboard come from here: after a change run `npm run log-rows` and `npm run
 * dashboard-types`. See docs/reference/admin.md#request-log-rows.
 */
export const LOG_COLUMNS = {
  trace_id: {
    kind: 'text',
    isGiven: true,
    absent: '',
    since: 1,
    shown: 'always',
    isFilter: true,
    about: 'Id of the request, as X-Request-ID says it',
  },
  stage: {
    kind: 'text',
    isGiven: true,
    isRequired: true,
    since: 1,
    shown: 'always',
    isFilter: true,
    about: 'Stage at which the row was written; after_request and on_error end a request',
  },
  model: {
    kind: 'text',
    isGiven: true,
    since: 1,
    shown: 'always',
    isFilter: true,
    about: 'Model that was asked for; of an answer the one that the upstream reported',
  },
  api_key_id: {
    kind: 'text',
    since: 2,
    shown: 'always',
    isFilter: true,
    about: 'Id of the credential; empty for none',
  },
  provider: { kind: 'text', since: 1, shown: 'always', isFilter: true, about: 'Who made the answer' },
  prompt_tokens: {
    kind: 'integer',
    isRequired: true,
    absent: 0,
    since: 1,
    shown: 'always',
    about: 'Tokens of the prompt',
  },
  completion_tokens: {
    kind: 'integer',
    isRequired: true,
    absent: 0,
    since: 1,
    shown: 'always',
    about: 'Tokens of the answer',
  },
  total_tokens: { kind: 'integer', isRequired: true, absent: 0, since: 1, shown: 'always', about: 'Tokens of both' },
  error_message: {
    kind: 'text',
    isFree: true,
    longest: 8192,
    since: 1,
    shown: 'always',
    about: 'What went wrong; empty where nothing did',
  },
  created_at: { kind: 'moment', isGiven: true, isRequired: true, since: 1, shown: 'always', about: 'When it ended' },
  duration_ms: {
    kind: 'real',
    since: 2,
    shown: 'always',
    about: 'Milliseconds from arrival to the answer; null where they were not measured',
  },
  ttft_ms: {
    kind: 'real',
    since: 2,
    shown: 'always',
    about: 'Milliseconds from arrival to the first chunk of a stream; null where there was none',
  },
  cost_usd: { kind: 'real', since: 2, shown: 'always', about: 'US dollars; null where nothing prices the model' },
  ab_label: { kind: 'text', since: 2, shown: 'where known', about: 'Label of the A/B variant' },
  bytes_up: {
    kind: 'integer',
    since: 2,
    shown: 'where known',
    about: 'Bytes from the client, of a connection that both sides write to',
  },
  bytes_down: {
    kind: 'integer',
    since: 2,
    shown: 'where known',
    about: 'Bytes to the client, of a connection that both sides write to',
  },
  target: { kind: 'text', since: 2, shown: 'where known', isFilter: true, about: 'Virtual key of the target' },
  attempts: { kind: 'integer', since: 2, shown: 'where known', about: 'Attempts at all targets' },
  cache: {
    kind: 'text',
    values: ['hit', 'miss'],
    since: 2,
    shown: 'where known',
    isFilter: true,
    about: 'Whether a cache had the answer',
  },
  cost_source: {
    kind: 'text',
    values: ['usage', 'estimated', 'reported'],
    since: 10,
    shown: 'where known',
    about:
      'What the cost was computed of: what the vendor reported of the use, an estimate, or the cost that the vendor reported',
  },
  price_line: {
    kind: 'text',
    since: 12,
    shown: 'where known',
    isFilter: true,
    about: 'Line of the prices that the cost was computed by',
  },
  catalog_version: { kind: 'text', since: 2, shown: 'where known', about: 'Version of the prices' },
  surface: {
    kind: 'text',
    since: 6,
    shown: 'where known',
    isFilter: true,
    about: 'Tag of the surface, of a client that speaks a wire of its own',
  },
  client_wire: { kind: 'text', since: 6, shown: 'where known', about: 'The wire that the client speaks' },
  same_wire: { kind: 'boolean', since: 6, shown: 'where known', about: 'Whether the provider was asked in that wire' },
  upstream_request_id: { kind: 'text', since: 6, shown: 'where known', about: "The provider's own id of the answer" },
  session_id: {
    kind: 'text',
    isFree: true,
    since: 6,
    shown: 'where known',
    isFilter: true,
    about: 'The session, as the client names it',
  },
  provider_kind: {
    kind: 'text',
    since: 11,
    shown: 'where known',
    about: 'Kind of the provider, of an entry of `providers`',
  },
  credential: {
    kind: 'text',
    since: 11,
    shown: 'where known',
    isFilter: true,
    about: 'Name of the credential that served or failed last; unique together with the target',
  },
  model_group: {
    kind: 'text',
    since: 11,
    shown: 'where known',
    isFilter: 'group',
    about: 'Group of models whose route was tried last',
  },
  affinity: {
    kind: 'text',
    values: ['new', 'followed', 'moved'],
    since: 11,
    shown: 'where known',
    isFilter: true,
    about: 'Whether the session stayed where it was served before',
  },
  cache_read_tokens: {
    kind: 'integer',
    since: 11,
    shown: 'where known',
    about: 'Tokens of the prompt that the vendor read from its cache',
  },
  cache_write_tokens: {
    kind: 'integer',
    since: 11,
    shown: 'where known',
    about: 'Tokens of the prompt that the vendor wrote to its cache',
  },
  cache_saved_usd: {
    kind: 'real',
    since: 11,
    shown: 'where known',
    about: "US dollars that the vendor's cache saved; negative where writing to it cost more",
  },
  status: {
    kind: 'integer',
    since: 13,
    shown: 'where known',
    isFilter: true,
    about: 'Status that the client got; 499 where it had left before',
  },
  outcome: {
    kind: 'text',
    values: ['ok', 'client', 'policy', 'budget', 'rate', 'provider', 'gateway'],
    since: 13,
    shown: 'where known',
    isFilter: true,
    about: 'Whose doing the end of the request was',
  },
  code: {
    kind: 'text',
    longest: 64,
    since: 13,
    shown: 'where known',
    isFilter: true,
    about: 'Code of the error, also of one that ended a stream',
  },
  reason: {
    kind: 'text',
    longest: 64,
    since: 13,
    shown: 'where known',
    isFilter: true,
    about: 'Why, in a word for operators; clients do not get it',
  },
  upstream_status: {
    kind: 'integer',
    since: 13,
    shown: 'where known',
    about: 'Status of the last reply that a provider gave',
  },
  upstream_message: {
    kind: 'text',
    isFree: true,
    longest: 512,
    since: 13,
    shown: 'where known',
    about: 'What the provider said of the last attempt that failed',
  },
  method: {
    kind: 'text',
    longest: 8,
    since: 13,
    shown: 'where known',
    about: 'Method of HTTP, of requests that are forwarded or refused at the door',
  },
  path: {
    kind: 'text',
    isFree: true,
    longest: 256,
    since: 13,
    shown: 'where known',
    about: 'Path without its query, of requests that are forwarded or refused at the door',
  },
  streamed: { kind: 'boolean', since: 13, shown: 'where known', about: 'Whether a stream was asked for' },
  user_id: {
    kind: 'text',
    isFree: true,
    longest: 256,
    since: 13,
    shown: 'where known',
    shownAs: 'user',
    isFilter: 'user',
    about: 'Whom the request was made for, as its body says when it ends',
  },
  metadata: {
    kind: 'json',
    since: 13,
    shown: 'where known',
    about: 'Entries of X-Gateway-Metadata and of the member metadata of the body, sixteen at most',
  },
  address: {
    kind: 'text',
    longest: 45,
    since: 13,
    shown: 'where known',
    isFilter: true,
    about: "The client's address, behind trusted proxies the one that they name",
  },
  user_agent: {
    kind: 'text',
    isFree: true,
    longest: 256,
    since: 13,
    shown: 'where known',
    about: 'The header User-Agent',
  },
  account: {
    kind: 'text',
    longest: 256,
    since: 14,
    shown: 'where known',
    isFilter: true,
    about: 'Path of the account that the key belongs to',
  },
  tags: {
    kind: 'list',
    since: 14,
    shown: 'where known',
    isFilter: 'tag',
    about: 'Tags that count, of the key and of the request, in their order of names',
  },
  over_from: {
    kind: 'text',
    isFree: true,
    since: 14,
    shown: 'where known',
    isFilter: true,
    about: 'Model that was asked for, where a budget has another one used',
  },
  repeats: {
    kind: 'integer',
    since: 15,
    shown: 'where known',
    about: 'Further refusals of one kind that this row stands for',
  },
  decision: { kind: 'json', since: 2, shown: 'never', about: 'How the request was routed' },
} as const satisfies Readonly<Record<string, LogColumn>>;

type Columns = typeof LOG_COLUMNS;
/**
 * The name of a column, as rows and answers have it. A member of an answer may have another one,
 * which its column states as `shownAs`.
 */
export type LogColumnName = keyof Columns;

/**
 * The columns with their names, in their order. For code that treats columns alike, such as writing
 * a row; where one column is meant, name it by `LOG_COLUMNS`.
 */
export const LOG_COLUMN_LIST: readonly (readonly [name: LogColumnName, column: LogColumn])[] =
  Object.entries<LogColumn>(LOG_COLUMNS) as [LogColumnName, LogColumn][];

/**
 * What each step of the schema adds that adds columns. A new column has a step after the last one
 * of the schema. The phrases name the migrations. A step that has run anywhere is never changed:
 * databases that have run it would differ.
 */
export const LOG_COLUMN_STEPS = {
  2: 'times, cost, credential and route of a request',
  6: 'clients that speak a wire of their own',
  10: 'source of a cost',
  11: 'instance and credential of a row',
  12: 'price of a row',
  13: 'outcome of a request',
  14: 'account and price of a row',
  15: 'refusals that stand together',
} as const satisfies Readonly<Record<number, string>>;

/**
 * The types of values as a module gives them, by the kind of their column. Texts are cut and redacted
 * when they are kept, and whole numbers that are not whole become null: nothing that a module gives
 * makes a row fail.
 */
interface GivenKinds {
  readonly text: string;
  readonly integer: number;
  /** `null` where it was not measured. */
  readonly real: number | null;
  readonly boolean: boolean;
  readonly json: object;
  readonly list: readonly string[];
  /** Unix milliseconds. */
  readonly moment: number;
}

/**
 * What a module gives for one column: one of its `values` where it lists them, else what its kind
 * takes.
 */
type GivenAs<C extends LogColumn> = C extends { readonly values: readonly (infer Value)[] }
  ? Value
  : GivenKinds[C['kind']];
/**
 * Names of the columns that have these facts, such as `{ isGiven: true }`: what holds of a column is
 * said once, in its entry above, and the types follow from there.
 */
type NamesWith<Facet extends Partial<LogColumn>> = {
  [Name in LogColumnName]: Columns[Name] extends Facet ? Name : never;
}[LogColumnName];
/**
 * Columns that a row cannot be without. A module that leaves one out does not compile, and its row
 * would not be kept.
 */
type AlwaysGiven = NamesWith<{ readonly isGiven: true }>;

/**
 * The members of a row as modules give it. Times in milliseconds, money in US dollars. A member
 * that may be left out and is `undefined` is stored as the column's `absent`, or null.
 */
export type GivenColumns = { readonly [Name in AlwaysGiven]: GivenAs<Columns[Name]> } & {
  readonly [Name in Exclude<LogColumnName, AlwaysGiven>]?: GivenAs<Columns[Name]> | undefined;
};

/**
 * The types of values in a row that waits to be written: an object is its text by then, and a
 * moment too.
 */
interface KeptKinds {
  readonly text: string;
  readonly integer: number;
  readonly real: number;
  readonly boolean: number;
  readonly json: string;
  readonly list: string;
  readonly moment: number;
}

/** Columns that no reader has to check for null. */
type NeverNull = NamesWith<{ readonly isRequired: true }> | NamesWith<{ readonly absent: '' | 0 }>;

/**
 * The members of a row as it is kept. A column that is not required may be null, also in rows that
 * were written before it existed.
 */
export type KeptColumns = {
  readonly [Name in LogColumnName]: KeptKinds[Columns[Name]['kind']] | (Name extends NeverNull ? never : null);
};
