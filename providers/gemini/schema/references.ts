import { type Fields, isFields } from 'gw/common-wire';

/** Keywords that refer to a schema elsewhere in the document. */
const REFERRING = ['$ref', '$dynamicRef', '$recursiveRef'];

/** What a schema says beside its reference, and where that points. */
export interface Reference {
  readonly pointer: string;
  readonly beside: Fields;
}

/** `undefined` for a schema that refers to nothing. */
export function referenceOf(schema: Fields): Reference | undefined {
  const keyword = REFERRING.find((name) => typeof schema[name] === 'string');
  if (keyword === undefined) return undefined;
  const { [keyword]: pointer, ...beside } = schema;
  return { pointer: pointer as string, beside };
}

/** The last step of a pointer, which is how people call what it points at. */
export function nameOf(pointer: string): string {
  return pointer === '#' ? 'the whole' : JSON.stringify(unescaped(pointer.split('/').at(-1) ?? pointer));
}

/** The schemas of one document that others refer to: by `#/$defs/name`, by `$id` (as typebox does) or by `#anchor`. */
export class References {
  readonly #root: Fields;
  #named: ReadonlyMap<string, Fields> | undefined;

  constructor(root: Fields) {
    this.#root = root;
  }

  /** `undefined` where the pointer leads to no schema of this document. */
  find(pointer: string): Fields | undefined {
    if (pointer === '#' || pointer.startsWith('#/')) return this.#at(pointer);
    this.#named ??= namedIn(this.#root);
    return this.#named.get(pointer);
  }

  #at(pointer: string): Fields | undefined {
    let at: unknown = this.#root;
    for (const token of pointer.split('/').slice(1)) {
      const name = unescaped(token);
      at = typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Fields)[name] : undefined;
    }
    return isFields(at) ? at : undefined;
  }
}

function unescaped(token: string): string {
  try {
    return decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return token;
  }
}

/** Not by recursion: a document may be deeper than the stack. */
function namedIn(root: Fields): Map<string, Fields> {
  const named = new Map<string, Fields>();
  const open: unknown[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (Array.isArray(at)) for (const item of at) open.push(item ?? undefined);
    if (!isFields(at)) continue;
    const { $id: id, $anchor: anchor, $dynamicAnchor: dynamic } = at;
    for (const name of [id, ...[anchor, dynamic].map((text) => (typeof text === 'string' ? `#${text}` : undefined))]) {
      if (typeof name === 'string' && !named.has(name)) named.set(name, at);
    }
    for (const value of Object.values(at)) if (typeof value === 'object' && value !== null) open.push(value);
  }
  return named;
}
