import type { RequestLogRow } from '../contract/index.ts';
import type { Redactor } from '../log/redact.ts';
import type { LogRow } from './log-repository.ts';
import { RouteDecision } from './route-decision.ts';

/** Characters of a model's name or another short text that are kept; of an error. */
const LONGEST_TEXT = 1024;
const LONGEST_ERROR = 8 * 1024;

/** A row that waits to be written: as it was given, but for what its giver may change later, and what would keep many objects alive. */
export interface GivenRow extends Omit<RequestLogRow, 'decision'> {
  /** JSON. */
  readonly decision?: string | undefined;
}

export function givenRow(row: RequestLogRow, redactor: Redactor): GivenRow {
  return { ...row, decision: row.decision && decisionText(row.decision, redactor) };
}

/** A row as databases take it: no NUL and no half surrogate pair, whole numbers that are whole, and no secret in the error. */
export function storedRow(row: GivenRow, redactor: Redactor): LogRow {
  return {
    trace_id: text(row.trace_id) ?? '',
    stage: row.stage,
    model: text(row.model),
    provider: text(row.provider),
    api_key_id: text(row.api_key_id),
    prompt_tokens: whole(row.prompt_tokens) ?? 0,
    completion_tokens: whole(row.completion_tokens) ?? 0,
    total_tokens: whole(row.total_tokens) ?? 0,
    error_message: row.error_message ? text(redactor.redact(row.error_message), LONGEST_ERROR) : null,
    created_at: Number.isFinite(row.created_at) ? Math.floor(row.created_at) : 0,
    duration_ms: amount(row.duration_ms),
    ttft_ms: amount(row.ttft_ms),
    cost_usd: amount(row.cost_usd),
    ab_label: text(row.ab_label),
    target: text(row.target),
    attempts: whole(row.attempts),
    cache: text(row.cache),
    catalog_version: text(row.catalog_version),
    bytes_up: whole(row.bytes_up),
    bytes_down: whole(row.bytes_down),
    surface: text(row.surface),
    client_wire: text(row.client_wire),
    same_wire: row.same_wire === undefined ? null : Number(row.same_wire),
    upstream_request_id: text(row.upstream_request_id),
    session_id: row.session_id ? text(redactor.redact(row.session_id)) : null,
    decision: row.decision === undefined ? null : storable(row.decision),
  };
}

function decisionText(decision: object, redactor: Redactor): string {
  return decision instanceof RouteDecision ? decision.shortText((text) => redactor.redact(text)) : redactedJson(decision, redactor);
}

/** What a module made: each text in it is redacted by itself. */
function redactedJson(value: object, redactor: Redactor): string {
  return JSON.stringify(value, (_name, member: unknown) => (typeof member === 'string' ? redactor.redact(member) : member));
}

function text(value: string | undefined, longest = LONGEST_TEXT): string | null {
  return value ? storable(value.length > longest ? value.slice(0, longest) : value) : null;
}

/** Postgres refuses a text with NUL or half a surrogate pair, and SQLite ends one at its NUL. */
function storable(value: string): string {
  const formed = value.toWellFormed();
  return formed.includes('\0') ? formed.replaceAll('\0', '\ufffd') : formed;
}

function whole(value: number | undefined): number | null {
  return Number.isSafeInteger(value) ? (value ?? null) : null;
}

/** The last digits of a fraction are lost on the way through text in some databases, so they are not kept in any. */
export function amount(value: number | null | undefined): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? Number(value.toPrecision(15)) : null;
}
