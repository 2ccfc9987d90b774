/**
 * Makes plain data unchangeable at every depth before a third-party module gets it: one that changes it in place fails where it does,
 * and what runs after it does not see the change. The shipped modules pass their tests with frozen input, so that their requests pay nothing.
 * Bytes, files and other objects with a class of their own stay as they are.
 */
export function frozenInput(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || !isPlain(value)) return;
  Object.freeze(value); // first: what holds itself ends here
  if (Array.isArray(value)) for (const item of value) frozenInput(item);
  else for (const name in value) frozenInput((value as Readonly<Record<string, unknown>>)[name]);
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
