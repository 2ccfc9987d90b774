/**
 * Freezes what every object and every list inherits, so that a write that reaches it fails where it stands, and refuses
 * to exchange a prototype by `__proto__`: in this code base only a name from outside can be that. Loaded first by the tests, and by the
 * gateways that they start; in plain JavaScript, because it comes before their compile cache, and Node's reader of TypeScript takes a tenth of
 * a start.
 */
const everyObject = Object.prototype;

/** Libraries give their objects a `toString` of their own by assignment: a frozen member would forbid that, an accessor does not. */
for (const [name, { value, enumerable }] of Object.entries(Object.getOwnPropertyDescriptors(everyObject))) {
  if (name === '__proto__') continue;
  Object.defineProperty(everyObject, name, {
    enumerable,
    configurable: false,
    get: () => value,
    set(own) {
      if (this === everyObject) throw new TypeError(`"${name}" was written into what every object inherits`);
      Object.defineProperty(this, name, { value: own, writable: true, enumerable: true, configurable: true });
    },
  });
}

Object.defineProperty(everyObject, '__proto__', {
  get() {
    return Object.getPrototypeOf(this);
  },
  set(prototype) {
    if (typeof this !== 'function') throw new TypeError('__proto__ was used to exchange a prototype');
    Object.setPrototypeOf(this, prototype); // as playwright-core does with its own; no name from outside belongs to a function
  },
  enumerable: false,
  configurable: false,
});
Object.freeze(everyObject);

/**
 * `join` may be replaced, by tests that count what is copied. `constructor` can be written too: where it cannot, V8 asks every list for the
 * kind of its copies, and `map`, `filter` and `slice` take the tests a third more CPU time. `hooks.ts` looks at it after every test instead.
 */
const WRITABLE = new Set(['join', 'constructor']);
const everyList = Array.prototype;
for (const [name, { writable }] of Object.entries(Object.getOwnPropertyDescriptors(everyList))) {
  if (writable && !WRITABLE.has(name)) Object.defineProperty(everyList, name, { writable: false, configurable: false });
}
Object.preventExtensions(everyList);
