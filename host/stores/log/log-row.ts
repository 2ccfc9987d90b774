import type { RequestLogRow } from '../../contract/index.ts';
import type { Redactor } from '../../log/redact.ts';
import type { LogRow } from './log-repository.ts';
import { RouteDecision } from './route-decision.ts';

/** Characters of a model's name or another short text that are kept; of an error. */
const LONGEST_TEXT = 1024;
const LONGEST_ERROR = 8 * 1024;
/** Years 0 to 9999. */
const FIRST_MOMENT = Date.parse('0000-01-01T00:00:00Z');
const END_OF_MOMENTS = Date.parse('9999-12-31T23:59:59.999Z') + 1;

type Given = Pick<RequestLogRow, 'trace_id' | 'stage' | 'model' | 'created_at'> & {
  readonly [Name in keyof RequestLogRow]?: RequestLogRow[Name] | undefined;
};

/** A row that waits to be written: what its giver may change later or what would keep much in memory is not of it. */
export interface GivenRow extends Omit<Given, 'decision'> {
  /** JSON. */
  readonly decision?: string | undefined;
}

/**
 * Error, session and decision are redacted as they come: of a batch of rows at once it would be one long turn. One literal: every logged
 * request comes here.
 */
export function givenRow(row: RequestLogRow, redactor: Redactor): GivenRow {
  return {
    trace_id: short(row.trace_id),
    stage: short(row.stage),
    model: short(row.model),
    provider: short(row.provider),
    api_key_id: short(row.api_key_id),
    created_at: row.created_at,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    total_tokens: row.total_tokens,
    duration_ms: row.duration_ms,
    ttft_ms: row.ttft_ms,
    cost_usd: row.cost_usd,
    error_message: row.error_message && copied(redactor.excerpt(row.error_message, LONGEST_ERROR)),
    ab_label: short(row.ab_label),
    target: short(row.target),
    attempts: row.attempts,
    cache: short(row.cache),
    cost_source: row.cost_source,
    catalog_version: short(row.catalog_version),
    bytes_up: row.bytes_up,
    bytes_down: row.bytes_down,
    surface: short(row.surface),
    client_wire: short(row.client_wire),
    same_wire: row.same_wire,
    upstream_request_id: short(row.upstream_request_id),
    session_id: row.session_id && short(redactor.excerpt(row.session_id, LONGEST_TEXT)),
    decision: row.decision && decisionText(row.decision, redactor),
  };
}

/** A row as databases take it: no NUL and no half surrogate pair, and whole numbers that are whole. */
export function storedRow(row: GivenRow): LogRow {
  return {
    trace_id: text(row.trace_id) ?? '',
    stage: storable(row.stage),
    model: text(row.model),
    provider: text(row.provider),
    api_key_id: text(row.api_key_id),
    prompt_tokens: whole(row.prompt_tokens) ?? 0,
    completion_tokens: whole(row.completion_tokens) ?? 0,
    total_tokens: whole(row.total_tokens) ?? 0,
    error_message: text(row.error_message, LONGEST_ERROR),
    created_at: moment(row.created_at),
    duration_ms: amount(row.duration_ms),
    ttft_ms: amount(row.ttft_ms),
    cost_usd: amount(row.cost_usd),
    ab_label: text(row.ab_label),
    target: text(row.target),
    attempts: whole(row.attempts),
    cache: text(row.cache),
    cost_source: text(row.cost_source),
    catalog_version: text(row.catalog_version),
    bytes_up: whole(row.bytes_up),
    bytes_down: whole(row.bytes_down),
    surface: text(row.surface),
    client_wire: text(row.client_wire),
    same_wire: typeof row.same_wire === 'boolean' ? Number(row.same_wire) : null,
    upstream_request_id: text(row.upstream_request_id),
    session_id: text(row.session_id),
    decision: row.decision === undefined ? null : storable(row.decision),
  };
}

function decisionText(decision: object, redactor: Redactor): string {
  const hide = (text: string): string => redactor.excerpt(text);
  return decision instanceof RouteDecision
    ? decision.shortText(hide)
    : JSON.stringify(decision, (_name, member: unknown) => (typeof member === 'string' ? hide(member) : member));
}

/** As much as is kept of it, and a copy of that. */
function short<T extends string | undefined>(value: T): T {
  return typeof value === 'string' && value.length > LONGEST_TEXT ? (copied(value.slice(0, LONGEST_TEXT)) as T) : value;
}

/** V8 keeps all of a text in memory as long as a part that was cut out of it. */
function copied(value: string): string {
  return Buffer.from(value, 'utf16le').toString('utf16le');
}

function text(value: string | undefined, longest = LONGEST_TEXT): string | null {
  return value ? storable(value.length > longest ? value.slice(0, longest) : value) : null;
}

/** Postgres refuses a text with NUL or half a surrogate pair, and SQLite ends one at its NUL. */
function storable(value: string): string {
  const formed = value.toWellFormed();
  return formed.includes('\0') ? formed.replaceAll('\0', '\ufffd') : formed;
}

/** Milliseconds of a moment that every database has and that a timestamp can be of; 0 for any other. */
function moment(value: number): number {
  return Number.isFinite(value) && value >= FIRST_MOMENT && value < END_OF_MOMENTS ? Math.floor(value) : 0;
}

function whole(value: number | undefined): number | null {
  return Number.isSafeInteger(value) ? (value ?? null) : null;
}

/** The last digits of a fraction are lost on the way through text in some databases, so they are not kept in any. The largest numbers are rounded to infinity. */
export function amount(value: number | null | undefined): number | null {
  const rounded = typeof value === 'number' ? Number(value.toPrecision(15)) : Number.NaN;
  return Number.isFinite(rounded) ? rounded : null;
}
