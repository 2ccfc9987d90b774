/** What all code of the process works with. Left out is what tools for tracing replace by something that does the same: promises, functions, dates. */
const SHARED: readonly (readonly [name: string, object: object])[] = [
  ['JSON', JSON], ['Object', Object], ['Object.prototype', Object.prototype], ['Array', Array], ['Array.prototype', Array.prototype],
  ['String.prototype', String.prototype], ['Number', Number], ['Map.prototype', Map.prototype], ['Set.prototype', Set.prototype], ['Reflect', Reflect],
];

/** Read before anything else may have replaced them. */
const { getOwnPropertyDescriptor, defineProperty, is } = Object;
const { ownKeys, deleteProperty } = Reflect;

/**
 * The members of what all code shares, as they are now. A module that replaces one changes how the gateway works, and every other
 * module, in ways that nothing can be made safe against; so does a member that every object then seems to have.
 */
export class SharedObjects {
  readonly #members = SHARED.map(([name, object]) => ({ name, object, known: new Map(ownKeys(object).map((key) => [key, getOwnPropertyDescriptor(object, key)] as const)) }));

  /** What has been replaced or removed since then, or added to all objects; it is put back. */
  restore(): string | undefined {
    let first: string | undefined;
    for (let at = 0; at < this.#members.length; at += 1) {
      const shared = this.#members[at];
      if (shared) first = restored(shared.name, shared.object, shared.known) ?? first;
    }
    return first;
  }
}

function restored(name: string, object: object, known: Map<PropertyKey, PropertyDescriptor | undefined>): string | undefined {
  let what: string | undefined;
  known.forEach((before, key) => {
    const now = getOwnPropertyDescriptor(object, key);
    if (before === undefined || (now && is(now.value, before.value) && now.get === before.get && now.set === before.set)) return;
    what ??= `it ${now ? 'replaces' : 'removes'} ${name}.${String(key)}, which everything in the process uses`;
    defineProperty(object, key, before);
  });
  if (object !== Object.prototype) return what;
  for (const key in object) {
    if (known.has(key)) continue;
    what ??= `it adds "${key}" to Object.prototype, and so to every object of the process`;
    deleteProperty(object, key);
  }
  return what;
}
