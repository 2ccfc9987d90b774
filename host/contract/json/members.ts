/**
 * Writes a member whose name comes from outside: from a body, a header, a form, a configuration.
 * The name is only ever a member of the object itself: `object[name] = value` would exchange the
 * object's prototype for the name `__proto__`.
 *
 * @param object what is written to: an object of your own, since requests and answers are frozen.
 * @param name any text. A member of that name is replaced, in its place.
 * @example
 * ```ts
 * import { setMember } from 'gw/contract';
 *
 * // Counts words, of which `__proto__` may be one.
 * export function counted(words: readonly string[]): Record<string, number> {
 *   const counts: Record<string, number> = {};
 *   for (const word of words) setMember(counts, word, (Object.hasOwn(counts, word) ? (counts[word] ?? 0) : 0) + 1);
 *   return counts;
 * }
 * ```
 */
export function setMember<T>(object: { [name: string]: T }, name: string, value: T): void {
  if (name in object && !Object.hasOwn(object, name))
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/**
 * Reads a member whose name comes from outside; `undefined` for what every object inherits, such as
 * `constructor`. A member that holds `undefined` and one that is not there look alike.
 */
export function memberOf<T>(object: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/**
 * A table that no module of the process can change: neither its rows nor what they hold. Rows are
 * frozen one level deep, which is all that rows of plain values need. A write throws a `TypeError`
 * where it stands.
 */
export function frozenTable<T extends Readonly<Record<string, object>>>(table: T): T {
  for (const row of Object.values(table)) Object.freeze(row);
  return Object.freeze(table);
}
