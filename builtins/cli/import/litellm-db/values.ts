import { type Fields, isFields } from '../../../../host/contract/json/fields.ts';

export const textIn = (row: Fields, name: string): string | undefined => {
  const value = row[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const textsIn = (row: Fields, name: string): readonly string[] => {
  const value = row[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
};

/** `undefined` for nothing. What is there and is not a number counts as 0: it may allow nothing. */
export function numberIn(row: Fields, name: string): number | undefined {
  const value = row[name];
  if (value === null || value === undefined) return undefined;
  return typeof value === 'number' ? value : 0;
}

export const fieldsIn = (row: Fields, name: string): Fields => {
  const value = row[name];
  return isFields(value) ? value : {};
};

/** Unix milliseconds. Columns of LiteLLM have no zone, and are in UTC. */
export function momentIn(row: Fields, name: string): number | undefined {
  const text = textIn(row, name);
  if (text === undefined) return undefined;
  const at = Date.parse(/(?:Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(at) ? undefined : at;
}

const MICRO = 1e6;
const MOST_USD = 1e9;

/** A limit in dollars, in whole micro-dollars and never more than it was. */
export function limitUsd(value: number): number {
  const micro = Math.floor(Number((value * MICRO).toFixed(3)));
  return Math.min(MOST_USD, Math.max(0, micro) / MICRO);
}

/** What was spent, in whole micro-dollars and never less than it was. */
export function spentUsd(value: number): number {
  const micro = Math.ceil(Number((value * MICRO).toFixed(3)));
  return Math.min(MOST_USD, Math.max(0, micro) / MICRO);
}
