/** What all code of the process works with, and nothing has a reason to replace. */
const SHARED: readonly (readonly [name: string, object: object])[] = [
  ['JSON', JSON],
  ['Object', Object],
  ['Object.prototype', Object.prototype],
  ['Array', Array],
  ['Array.prototype', Array.prototype],
  ['String.prototype', String.prototype],
  ['Number', Number],
  ['Map.prototype', Map.prototype],
  ['Set.prototype', Set.prototype],
  ['Reflect', Reflect],
];

/** What tools for tracing replace by something that does the same: here only what is gone, or is of another kind, counts. */
const TRACED: readonly (readonly [name: string, object: object])[] = [
  ['globalThis', globalThis],
  ['Promise', Promise],
  ['Promise.prototype', Promise.prototype],
  ['Function.prototype', Function.prototype],
  ['Date', Date],
  ['Math', Math],
  ['String', String],
  ['RegExp.prototype', RegExp.prototype],
  ['Symbol', Symbol],
  ['Buffer', Buffer],
  ['Uint8Array.prototype', Uint8Array.prototype],
];

/** Read before anything else may have replaced them. */
const { getOwnPropertyDescriptor, defineProperty, is } = Object;
const { ownKeys, deleteProperty, get, set } = Reflect;
/** Names whose accessors keep what is assigned to them. */
const KEPT: readonly (readonly [name: string, value: unknown])[] = [
  ['process', process],
  ['Buffer', Buffer],
];

/**
 * The members of what all code shares, as they are now. A module that replaces one changes how the gateway works, and every other
 * module, in ways that nothing can be made safe against; so does a member that every object then seems to have.
 */
export class SharedObjects {
  readonly #members: readonly Shared[] = [...TRACED, ...SHARED].map(([name, object], at) => ({
    name,
    object,
    isSame: at < TRACED.length ? isUsable : isUnchanged,
    known: new Map(ownKeys(object).map((key) => [key, getOwnPropertyDescriptor(object, key)] as const)),
  }));

  /** What has been replaced or removed since then, or added to all objects; it is put back. */
  restore(): string | undefined {
    let first: string | undefined;
    KEPT.forEach(([name, value]) => {
      if (get(globalThis, name) === value) return;
      first ??= `it replaces globalThis.${name}, which everything in the process uses`;
      set(globalThis, name, value);
    });
    for (let at = 0; at < this.#members.length; at += 1) {
      const shared = this.#members[at];
      if (shared) first = restored(shared) ?? first;
    }
    return first;
  }
}

const isUnchanged = (before: PropertyDescriptor, now: PropertyDescriptor): boolean =>
  is(now.value, before.value) && now.get === before.get && now.set === before.set;

/** A function may be another one, and what was not made yet is made when it is asked for. */
function isUsable(before: PropertyDescriptor, now: PropertyDescriptor): boolean {
  if (now.get) return true;
  if (before.get) return now.value !== undefined;
  return typeof before.value === 'object' && before.value !== console
    ? now.value === before.value
    : typeof now.value === typeof before.value;
}

interface Shared {
  readonly name: string;
  readonly object: object;
  readonly isSame: (before: PropertyDescriptor, now: PropertyDescriptor) => boolean;
  readonly known: ReadonlyMap<PropertyKey, PropertyDescriptor | undefined>;
}

function restored({ name, object, isSame, known }: Shared): string | undefined {
  let what: string | undefined;
  known.forEach((before, key) => {
    const now = getOwnPropertyDescriptor(object, key);
    if (before === undefined || (now && isSame(before, now))) return;
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
