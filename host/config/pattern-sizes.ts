import type { ObjectSchema } from 'joi';
import { isFields, isText, MOST_PATTERN_SIZE, patternSize } from '../contract/index.ts';
import { canonicalJson } from './canonical.ts';
import { membersOf, metasOf } from './settings-schema.ts';

/**
 * Instructions that the patterns of all plugins of one configuration may compile to. They are compiled a plugin at a time, with others served
 * in between.
 */
export const MOST_OF_ALL = 200_000;

/** A setting whose patterns are too large, by itself or as a list. */
export interface LargePatterns {
  /** The setting, with the place in its list where one pattern is too large by itself. */
  readonly setting: string;
  readonly message: string;
}

const patternSettings = (schema: ObjectSchema): readonly string[] =>
  membersOf(schema)
    .filter((member) => metasOf(member.schema).some(({ compiled }) => compiled === 'RE2'))
    .map(({ key }) => key);

const textsOf = (setting: unknown): readonly string[] => (Array.isArray(setting) ? setting : [setting]).filter(isText);

/** The patterns of all plugins of a configuration. Nothing is compiled for it, nor asked of the modules. */
export class PatternBudget {
  readonly #seen = new Set<string>();
  #sum = 0;

  /** The size of all with these settings. What stands at several stages is compiled once, and what is too large by itself never. */
  add(name: string, schema: ObjectSchema, settings: object): number {
    const members = settings as Readonly<Record<string, unknown>>;
    const patterns = patternSettings(schema).map((setting) => textsOf(members[setting]));
    const sizes = patterns.map(sizeOf);
    const identity = sizes.length === 0 ? '' : canonicalJson([name, settings]);
    if (sizes.length === 0 || this.#seen.has(identity) || sizes.some((size) => size > MOST_PATTERN_SIZE)) return 0;
    this.#seen.add(identity);
    this.#sum += sizes.reduce((sum, size) => sum + size, 0);
    return this.#sum;
  }
}

const sizeOf = (patterns: readonly string[]): number =>
  patterns.reduce((sum, pattern) => sum + patternSize(pattern), 0);

/** The first setting whose patterns are more than one list may hold. */
export function largePatterns(schema: ObjectSchema, value: unknown): LargePatterns | undefined {
  for (const name of isFields(value) ? patternSettings(schema) : []) {
    const setting = (value as Record<string, unknown>)[name];
    const size = sizeOf(textsOf(setting));
    if (size <= MOST_PATTERN_SIZE) continue;
    const at = Array.isArray(setting)
      ? setting.findIndex((each) => isText(each) && patternSize(each) > MOST_PATTERN_SIZE)
      : -1;
    const may = (how: number): string => `may compile to ${how} instructions, the limit is ${MOST_PATTERN_SIZE}`;
    return at < 0
      ? { setting: name, message: `setting ${name} is too large: its patterns ${may(size)}` }
      : {
          setting: `${name}[${at}]`,
          message: `setting ${name}[${at}] is too large: it ${may(sizeOf(textsOf((setting as unknown[])[at])))}`,
        };
  }
  return undefined;
}

/** Settings without those that hold patterns. */
export function withoutPatterns(schema: ObjectSchema, value: unknown): unknown {
  const names = patternSettings(schema);
  return isFields(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name))) : value;
}
