import { isUtf8 } from 'node:buffer';
import { GatewayError, isFields, parseExactJson } from '../../contract/index.ts';

export type JsonObject = Record<string, unknown>;

/**
 * Parses a JSON object strictly: UTF-8, one document, bounded depth and size. Integers beyond 2^53 and numbers beyond the
 * range of a double become raw JSON, so that they leave as they came; of duplicate keys the last one counts.
 */
export function parseJsonObject(bytes: Buffer): JsonObject {
  const value = parseJsonBody(bytes);
  if (!isFields(value)) throw new GatewayError('invalid_request', 'the request body must be a JSON object');
  return value;
}

/** Any JSON value of a body. Throws a 400. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) throw new GatewayError('invalid_request', 'the request body is empty');
  if (!isUtf8(bytes)) throw new GatewayError('invalid_request', 'the request body is not valid UTF-8');
  return parsed(bytes.toString('utf8'));
}

function parsed(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch (cause) {
    const problem = cause instanceof RangeError ? cause.message : 'not valid JSON';
    throw new GatewayError('invalid_request', `the request body is ${problem}`, { cause });
  }
}
