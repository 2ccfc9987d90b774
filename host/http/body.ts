import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../contract/index.ts';

/** Deepest nesting of a JSON body: everything that walks bodies may recurse. */
export const MAX_DEPTH = 256;

export type JsonObject = Record<string, unknown>;

/** Numbers that JavaScript may not hold exactly: many digits, or an exponent. */
const INEXACT = /\d{16}|\d[eE]/;

/**
 * Parses a JSON object strictly: UTF-8, one document, bounded depth. Integers beyond 2^53 and numbers beyond the range
 * of a double become raw JSON, so that they leave as they came; of duplicate keys the last one counts.
 */
export function parseJsonObject(bytes: Buffer): JsonObject {
  if (bytes.length === 0) throw new GatewayError('invalid_request', 'the request body is empty');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'the request body is not valid UTF-8');
  const text = bytes.toString('utf8');
  let value: unknown;
  try {
    value = INEXACT.test(text) ? JSON.parse(text, keepExact as never) : JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_request', 'the request body is not valid JSON', { cause });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawNumber(value)) {
    throw new GatewayError('invalid_request', 'the request body must be a JSON object');
  }
  if (bytes.length > MAX_DEPTH * 2 && isTooDeep(value, MAX_DEPTH)) {
    throw new GatewayError('invalid_request', `the request body is nested deeper than ${MAX_DEPTH} levels`);
  }
  return value as JsonObject;
}

interface RawJson {
  rawJSON(text: string): object;
  isRawJSON(value: unknown): boolean;
}

const json = JSON as unknown as RawJson;

function keepExact(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined) return value;
  const isExact = Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? value : json.rawJSON(source);
}

/** True for a number that was kept as it was written. */
export function isRawNumber(value: unknown): boolean {
  return json.isRawJSON(value);
}

function isTooDeep(value: object, levels: number): boolean {
  if (levels === 0) return true;
  for (const key in value) {
    const member = (value as JsonObject)[key];
    if (typeof member === 'object' && member !== null && isTooDeep(member, levels - 1)) return true;
  }
  return false;
}
