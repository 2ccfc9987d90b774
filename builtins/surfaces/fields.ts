import { invalidRequest } from '../../host/common/invalid-request.ts';
import { isFields, isRawNumber } from '../../host/contract/index.ts';
import type { JsonObject } from '../../host/http/body/json-body.ts';

/** What a known field may hold, and how to say so. */
export interface FieldKind {
  readonly expected: string;
  accepts(value: unknown): boolean;
}

export const text: FieldKind = { expected: 'a string', accepts: (value) => typeof value === 'string' };
export const number: FieldKind = { expected: 'a number', accepts: (value) => typeof value === 'number' };
export const integer: FieldKind = { expected: 'an integer', accepts: (value) => Number.isInteger(value) };
/** Also beyond 2^53, where the number is kept as it was written. */
export const longInteger: FieldKind = {
  expected: 'an integer',
  accepts: (value) => Number.isInteger(value) || isRawInteger(value),
};
export const flag: FieldKind = { expected: 'true or false', accepts: (value) => typeof value === 'boolean' };
export const object: FieldKind = { expected: 'an object', accepts: isObject };
export const objects: FieldKind = {
  expected: 'a list of objects',
  accepts: (value) => Array.isArray(value) && value.every(isObject),
};
export const list: FieldKind = { expected: 'a list', accepts: (value) => Array.isArray(value) };
export const textOrObject: FieldKind = {
  expected: 'a string or an object',
  accepts: (value) => typeof value === 'string' || isObject(value),
};
export const texts: FieldKind = {
  expected: 'a string or a list of strings',
  accepts: (value) =>
    typeof value === 'string' || (Array.isArray(value) && value.every((item) => typeof item === 'string')),
};
export const numberMap: FieldKind = {
  expected: 'an object of numbers',
  accepts: (value) => isObject(value) && Object.values(value).every((item) => typeof item === 'number'),
};

export function isObject(value: unknown): value is JsonObject {
  return isFields(value) && !isRawNumber(value);
}

function isRawInteger(value: unknown): boolean {
  return isRawNumber(value) && /^-?\d+$/.test((value as { rawJSON: string }).rawJSON);
}

/** Checks the types of known fields, and removes those that are null: they count as absent. */
export function checkFields(body: JsonObject, kinds: ReadonlyMap<string, FieldKind>, at = ''): void {
  for (const name in body) {
    const kind = kinds.get(name);
    if (!kind) continue;
    const value = body[name];
    if (value === null) delete body[name];
    else if (!kind.accepts(value)) throw invalidRequest(`${at}${name} must be ${kind.expected}`);
  }
}

export function requireText(body: JsonObject, name: string): void {
  if (body[name] === undefined || body[name] === '') throw invalidRequest(`${name} is required`);
}

/** Refuses a number outside its range; absent passes. */
export function checkRange(body: JsonObject, name: string, low: number, high: number): void {
  const value = body[name];
  if (typeof value === 'number' && (value < low || value > high))
    throw invalidRequest(`${name} must be between ${low} and ${high}`);
}

export function checkPositive(body: JsonObject, name: string): void {
  const value = body[name];
  if (typeof value === 'number' && value <= 0) throw invalidRequest(`${name} must be greater than 0`);
}
