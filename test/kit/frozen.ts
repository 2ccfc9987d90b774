/**
 * Freezes what every object and every list inherits, so that a write that reaches it fails where it stands, and refuses
 * `__proto__` as a way there: in this code base only a name from outside can be that. Loaded first by the tests, and by the
 * gateways that they start.
 */
const everyObject: object = Object.prototype;

/** Libraries give their objects a `toString` of their own by assignment: a frozen member would forbid that, an accessor does not. */
for (const [name, { value, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(everyObject))) {
  if (name === '__proto__') continue;
  Object.defineProperty(everyObject, name, {
    enumerable,
    configurable: false,
    get: () => value as unknown,
    set(this: object, own: unknown) {
      if (this === everyObject) throw new TypeError(`"${name}" was written into what every object inherits`);
      Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
    },
  });
}

const refused = (): never => { throw new TypeError('__proto__ was used to reach a prototype'); };
Object.defineProperty(everyObject, '__proto__', { get: refused, set: refused, enumerable: false, configurable: false });
Object.freeze(everyObject);
Object.freeze(Array.prototype);
