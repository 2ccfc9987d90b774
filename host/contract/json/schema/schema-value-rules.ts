import type { Fields } from '../fields.ts';
import { type LinearPattern, linearPattern } from '../../text/pattern.ts';
import { type Finding, finding, type Rule } from './schema-node.ts';
import { areEqual, canonical, hasMember, lengthOf } from './schema-values.ts';

/** A keyword that says something of a value alone: makes the rule of what it holds. */
export type SimpleRule = (held: never, holder: Readonly<Fields>) => Rule | undefined;

const failing =
  <T>(is: (value: T) => boolean, message: string): Rule =>
  (value) =>
    is(value as T) ? undefined : finding(message);

const bound =
  (holds: (value: number, limit: number) => boolean, sign: string) =>
  (limit: number): Rule =>
    failing<number>((value) => holds(value, limit), `must be ${sign} ${limit}`);

const most =
  <T>(sizeOf: (value: T) => number, what: string) =>
  (limit: number): Rule =>
    failing<T>((value) => sizeOf(value) <= limit, `must NOT have more than ${limit} ${what}`);

const least =
  <T>(sizeOf: (value: T) => number, what: string) =>
  (limit: number): Rule =>
    failing<T>((value) => sizeOf(value) >= limit, `must NOT have fewer than ${limit} ${what}`);

const items = (value: readonly unknown[]): number => value.length;
const members = (value: Readonly<Fields>): number => Object.keys(value).length;

function multipleOf(step: number): Rule {
  return failing<number>((value) => Number.isInteger(value / step), `must be multiple of ${step}`);
}

/** Compiled at the first text that it meets: a schema may hold thousands. That it compiles has been seen before. */
export function lazyPattern(pattern: string): LinearPattern {
  let compiled: LinearPattern | undefined;
  return { test: (text) => (compiled ??= linearPattern(pattern)).test(text) };
}

function pattern(text: string): Rule {
  const compiled = lazyPattern(text);
  return failing<string>((value) => compiled.test(value), `must match pattern "${text}"`);
}

function required(names: readonly string[]): Rule {
  return (value) => {
    const missing = names.find((name) => !hasMember(value as Fields, name));
    return missing === undefined ? undefined : finding(`must have required property '${missing}'`);
  };
}

/** Whether no two items are equal. */
export function uniqueItems(isUnique: boolean): Rule | undefined {
  return isUnique
    ? failing<readonly unknown[]>(
        (value) => value.length < 2 || new Set(value.map(canonical)).size === value.length,
        'must NOT have equal items',
      )
    : undefined;
}

/** The first name of a list that an object lacks although it has another. */
export function dependentRequired(needed: Readonly<Record<string, readonly string[]>>): Rule {
  const entries = Object.entries(needed);
  return (value): Finding | undefined => {
    for (const [name, others] of entries) {
      if (!hasMember(value as Fields, name) || others.every((other) => hasMember(value as Fields, other))) continue;
      return finding(
        `must have ${others.length === 1 ? 'property' : 'properties'} ${others.join(', ')} when property ${name} is present`,
      );
    }
    return undefined;
  };
}

/** By the type of the values that they speak of, in the order in which they are looked at. */
export const SIMPLE_RULES = {
  number: {
    maximum: bound((value, limit) => value <= limit, '<='),
    minimum: bound((value, limit) => value >= limit, '>='),
    exclusiveMaximum: bound((value, limit) => value < limit, '<'),
    exclusiveMinimum: bound((value, limit) => value > limit, '>'),
    multipleOf,
  },
  string: { maxLength: most(lengthOf, 'characters'), minLength: least(lengthOf, 'characters'), pattern },
  any: {
    const: (constant: unknown): Rule => failing((value) => areEqual(value, constant), 'must be equal to constant'),
    enum: (allowed: readonly unknown[]): Rule => {
      const plain = new Set(allowed.filter((one) => typeof one !== 'object' || one === null));
      const others = allowed.filter((one) => typeof one === 'object' && one !== null);
      return failing(
        (value) => plain.has(value) || others.some((one) => areEqual(one, value)),
        'must be equal to one of the allowed values',
      );
    },
  },
  array: { maxItems: most(items, 'items'), minItems: least(items, 'items') },
  object: { maxProperties: most(members, 'properties'), minProperties: least(members, 'properties'), required },
} satisfies Readonly<Record<string, Readonly<Record<string, SimpleRule>>>>;
