/**
 * Writes a member whose name comes from outside: from a body, a header, a form, a configuration.
 * The name is only ever a member of the object itself: `object[name] = value` would exchange the
 * object's prototype for the name `__proto__`.
 */
export function setMember<T>(object: { [name: string]: T }, name: string, value: T): void {
  if (name in object && !Object.hasOwn(object, name))
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}

/**
 * Reads a member whose name comes from outside; `undefined` for what every object inherits, such as
 * `constructor`.
 */
export function memberOf<T>(object: { readonly [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** A table that no module of the process can change: neither its rows nor what they hold. */
export function frozenTable<T extends Readonly<Record<string, object>>>(table: T): T {
  for (const row of Object.values(table)) Object.freeze(row);
  return Object.freeze(table);
}
