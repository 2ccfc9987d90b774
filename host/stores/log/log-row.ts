// Made of host/contract/log-columns.ts by "npm run log-rows".
import type { RequestLogRow } from '../../contract/index.ts';
import type { Redactor } from '../../log/redact.ts';
import type { LogRow } from './log-repository.ts';
import {
  amount,
  copied,
  decisionText,
  flag,
  type GivenRow,
  LONGEST_TEXT,
  moment,
  shifted,
  short,
  storable,
  text,
  whole,
} from './row-values.ts';

/** A row as it waits. `shiftMs` is from the clock that it was given by to that of the store. Free texts are redacted as they come: of a batch of rows at once it would be one long turn. */
export function givenRow(row: RequestLogRow, redactor: Redactor, shiftMs = 0): GivenRow {
  return {
    trace_id: short(row.trace_id),
    stage: short(row.stage),
    model: short(row.model),
    api_key_id: short(row.api_key_id),
    provider: short(row.provider),
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    total_tokens: row.total_tokens,
    error_message: row.error_message && copied(redactor.excerpt(row.error_message, 8192)),
    created_at: shifted(row.created_at, shiftMs),
    duration_ms: row.duration_ms,
    ttft_ms: row.ttft_ms,
    cost_usd: row.cost_usd,
    ab_label: short(row.ab_label),
    bytes_up: row.bytes_up,
    bytes_down: row.bytes_down,
    target: short(row.target),
    attempts: row.attempts,
    cache: short(row.cache),
    cost_source: short(row.cost_source),
    catalog_version: short(row.catalog_version),
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
    api_key_id: text(row.api_key_id),
    provider: text(row.provider),
    prompt_tokens: whole(row.prompt_tokens) ?? 0,
    completion_tokens: whole(row.completion_tokens) ?? 0,
    total_tokens: whole(row.total_tokens) ?? 0,
    error_message: text(row.error_message, 8192),
    created_at: moment(row.created_at),
    duration_ms: amount(row.duration_ms),
    ttft_ms: amount(row.ttft_ms),
    cost_usd: amount(row.cost_usd),
    ab_label: text(row.ab_label),
    bytes_up: whole(row.bytes_up),
    bytes_down: whole(row.bytes_down),
    target: text(row.target),
    attempts: whole(row.attempts),
    cache: text(row.cache),
    cost_source: text(row.cost_source),
    catalog_version: text(row.catalog_version),
    surface: text(row.surface),
    client_wire: text(row.client_wire),
    same_wire: flag(row.same_wire),
    upstream_request_id: text(row.upstream_request_id),
    session_id: text(row.session_id),
    decision: row.decision === undefined ? null : storable(row.decision),
  };
}

/** What is bound for a row, in the order of the columns; `moment` as the database takes it. */
export function valuesOf(row: LogRow, moment: string): (string | number | null)[] {
  return [
    row.trace_id,
    row.stage,
    row.model,
    row.api_key_id,
    row.provider,
    row.prompt_tokens,
    row.completion_tokens,
    row.total_tokens,
    row.error_message,
    moment,
    row.duration_ms,
    row.ttft_ms,
    row.cost_usd,
    row.ab_label,
    row.bytes_up,
    row.bytes_down,
    row.target,
    row.attempts,
    row.cache,
    row.cost_source,
    row.catalog_version,
    row.surface,
    row.client_wire,
    row.same_wire,
    row.upstream_request_id,
    row.session_id,
    row.decision,
  ];
}
