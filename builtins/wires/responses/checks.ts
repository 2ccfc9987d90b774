import { invalidRequest } from '../../../host/common/invalid-request.ts';
import { type Fields, GatewayError, isFields, isRawNumber, quoted } from '../../../host/contract/index.ts';

/** A value that clients of this wire may send, and the vendor takes, but that no other vendor could be given. */
export function notCarried(path: string, why: string): GatewayError {
  return new GatewayError('unsupported_parameter', `${path} ${why}`);
}

export function objectAt(value: unknown, path: string): Fields {
  if (!isFields(value) || isRawNumber(value)) throw invalidRequest(`${path} must be an object`);
  return value;
}

export function listAt(value: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(value)) throw invalidRequest(`${path} must be a list`);
  return value as readonly unknown[];
}

/** A text that must be there and hold something. */
export function textAt(value: unknown, path: string): string {
  if (value === undefined || value === null || value === '') throw invalidRequest(`${path} is required`);
  return stringAt(value, path);
}

export function stringAt(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalidRequest(`${path} must be a string`);
  return value;
}

/** The text of a member that may be left out; null counts as left out. */
export function optionalString(value: unknown, path: string): string | undefined {
  return value === undefined || value === null ? undefined : stringAt(value, path);
}

export function optionalFlag(value: unknown, path: string): boolean | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean') throw invalidRequest(`${path} must be true or false`);
  return value;
}

interface Range {
  readonly low: number;
  readonly high?: number;
  readonly isWhole?: boolean;
}

export function optionalNumber(
  value: unknown,
  path: string,
  { low, high = Infinity, isWhole = false }: Range,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || (isWhole && !Number.isInteger(value)))
    throw invalidRequest(`${path} must be ${isWhole ? 'an integer' : 'a number'}`);
  if (value < low || value > high)
    throw invalidRequest(`${path} must be ${high === Infinity ? `at least ${low}` : `between ${low} and ${high}`}`);
  return value;
}

export function optionalObject(value: unknown, path: string): Fields | undefined {
  return value === undefined || value === null ? undefined : objectAt(value, path);
}

export function unknownType(value: unknown, path: string): GatewayError {
  return value === undefined || value === null
    ? invalidRequest(`${path}.type is required`)
    : notCarried(path, `has the type ${quoted(value)}, which only the vendor of this API can serve`);
}

/** Whether a member was given a value: null says the same as leaving it out. */
export const isGiven = (value: unknown): boolean => value !== undefined && value !== null;
