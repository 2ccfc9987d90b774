/**
 * Plain data that cannot be changed any more, at any depth: the same objects. Third-party modules get it, so that one which changes
 * in place what it is given fails where it does, and what runs after it does not see the change. The shipped modules pass their tests with
 * it, so that their requests pay nothing. Bytes, files and other objects with a class of their own stay as they are.
 */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || !isPlain(value)) return value;
  Object.freeze(value); // first: what holds itself ends here
  if (Array.isArray(value)) for (const item of value) deepFrozen<unknown>(item);
  else for (const name in value) deepFrozen(value[name]);
  return value;
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
