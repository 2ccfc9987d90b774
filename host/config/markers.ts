import type { Description } from 'joi';
import { isFields } from '../contract/index.ts';
import type { Path } from './problems.ts';
import { configDescription } from './schema/config-description.ts';
import { blocksOf, describedAt, keysOf } from './schema/schema-walk.ts';

/** How everything begins that takes a secret's place. */
const MARKER = '[REDACTED';

/**
 * Fields that hold a marker in a value or a key, in the order of the schema. Maps and lists of texts are named as a whole: what
 * stands inside them is free.
 */
export function markedFields(document: object): Path[] {
  return isMarked(document) ? marked(document, configDescription(), []) : [];
}

function isMarked(value: unknown): boolean {
  if (typeof value === 'string') return value.includes(MARKER);
  if (Array.isArray(value)) return value.some(isMarked);
  return isFields(value) && Object.entries(value).some(([key, member]) => key.includes(MARKER) || isMarked(member));
}

function marked(value: unknown, description: Description | undefined, at: Path): Path[] {
  const keys = keysOf(description);
  if (isFields(value) && keys.length > 0) {
    const others = Object.keys(value).filter((key) => !keys.includes(key));
    return [...keys, ...others].flatMap((key) => {
      if (!Object.hasOwn(value, key)) return [];
      return key.includes(MARKER)
        ? [[...at, key]]
        : marked(value[key], description && describedAt(description, [key]), [...at, key]);
    });
  }
  const block = blocksOf(description);
  if (block && isFields(value))
    return Object.entries(value).flatMap(([name, each]) =>
      name.includes(MARKER) ? [[...at, name]] : marked(each, block, [...at, name]),
    );
  const item = description && describedAt(description, [0]);
  if (Array.isArray(value) && keysOf(item).length > 0)
    return value.flatMap((each: unknown, index) => marked(each, item, [...at, index]));
  return isMarked(value) ? [at] : [];
}
