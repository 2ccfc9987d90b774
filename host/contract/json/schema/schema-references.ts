import { type Fields, isFields } from '../fields.ts';
import { below, type Draft, keywordOf } from './schema-shapes.ts';

/** A schema with an address of its own: the whole one, and each inside it that has an `$id`. */
export interface Resource {
  readonly address: string;
  readonly root: object;
  readonly anchors: Map<string, object>;
  /** Names of anchors that the outermost resource which has them decides on. */
  readonly dynamic: Set<string>;
}

/** Schemas inside one: so many are read in a tenth of a second or two. */
const MOST_SCHEMAS = 20_000;

/** Where addresses begin that say nothing of themselves. */
const NOWHERE = 'schema:/';

/** Finds what references of one schema mean. Nothing is fetched: what stands elsewhere is refused. */
export class References {
  readonly #draft: Draft;
  readonly #resources = new Map<string, Resource>();
  readonly #of = new Map<object, Resource>();
  readonly #dynamic: (readonly [anchor: string, resource: Resource, schema: object])[] = [];
  /** Every keyword that stands in the schema. */
  readonly keywords = new Set<string>();
  /** The whole schema. */
  readonly top: Resource;

  /** Throws where a keyword holds what it does not take. */
  constructor(root: Readonly<Fields>, draft: Draft) {
    this.#draft = draft;
    this.top = this.#add(root, undefined);
    const open: (readonly [schema: unknown, within: Resource | undefined, place: string])[] = [[root, this.top, '']];
    let count = 0;
    for (let next = open.pop(); next; next = open.pop()) {
      const [schema, within, place] = next;
      count += 1;
      if (count > MOST_SCHEMAS) throw new Error(`schema holds more than ${MOST_SCHEMAS} schemas`);
      if (!isFields(schema)) continue;
      this.#requireShapes(schema, place);
      const resource = schema === root ? this.top : this.#add(schema, within);
      for (const [name, value] of below(draft, schema)) open.push([value, resource, `${place}/${name}`]);
    }
  }

  resourceOf(schema: object): Resource | undefined {
    return this.#of.get(schema);
  }

  dynamicAnchors(): readonly (readonly [anchor: string, resource: Resource, schema: object])[] {
    return this.#dynamic;
  }

  /** The schema that a reference means, and the resource that it stands in. */
  resolve(reference: string, from: Resource): readonly [schema: unknown, resource: Resource] {
    const [address, fragment = ''] = split(resolved(reference, from.address));
    const resource = address === split(from.address)[0] ? from : this.#resources.get(address);
    if (!resource) throw new Error(`can't resolve reference ${reference} from id ${shown(from.address)}`);
    if (fragment === '') return [resource.root, resource];
    const found = fragment.startsWith('/') ? this.#at(fragment, resource) : resource.anchors.get(fragment);
    if (found === undefined) throw new Error(`can't resolve reference ${reference} from id ${shown(from.address)}`);
    return Array.isArray(found) ? (found as [unknown, Resource]) : [found, this.#of.get(found) ?? resource];
  }

  #requireShapes(schema: Readonly<Fields>, place: string): void {
    for (const [name, value] of Object.entries(schema)) {
      this.keywords.add(name);
      const why = keywordOf(this.#draft, name)?.shape(value);
      if (why !== undefined) throw new Error(`schema is invalid: ${place}/${name} ${why}`);
    }
  }

  #add(schema: Readonly<Fields>, within: Resource | undefined): Resource {
    const { $id: id, $anchor: anchor, $dynamicAnchor: dynamicAnchor, $recursiveAnchor: recursive } = schema;
    const isOwn = !within || (typeof id === 'string' && !id.startsWith('#'));
    const resource: Resource = isOwn
      ? {
          address: resolved(typeof id === 'string' ? id : '', within?.address ?? NOWHERE),
          root: schema,
          anchors: new Map(),
          dynamic: new Set(),
        }
      : within;
    if (isOwn) this.#resources.set(split(resource.address)[0] ?? '', resource);
    if (typeof id === 'string' && id.startsWith('#') && id.length > 1) resource.anchors.set(id.slice(1), schema);
    for (const name of [anchor, dynamicAnchor]) if (typeof name === 'string') resource.anchors.set(name, schema);
    const dynamic = [
      typeof dynamicAnchor === 'string' ? dynamicAnchor : undefined,
      recursive === true && isOwn ? '' : undefined,
    ];
    for (const name of dynamic) {
      if (name === undefined) continue;
      resource.dynamic.add(name);
      this.#dynamic.push([name, resource, schema]);
    }
    this.#of.set(schema, resource);
    return resource;
  }

  /** What a JSON pointer leads to, also where no keyword holds a schema. */
  #at(pointer: string, within: Resource): readonly [unknown, Resource] | undefined {
    let value: unknown = within.root;
    let resource = within;
    for (const part of pointer.split('/').slice(1)) {
      const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as Readonly<Record<string, unknown>>)[name];
      if (typeof value === 'object' && value !== null) resource = this.#of.get(value) ?? resource;
    }
    return [value, resource];
  }
}

function resolved(reference: string, base: string): string {
  const url = URL.parse(reference, base);
  return url ? url.href : reference;
}

const split = (address: string): readonly [string, string?] => {
  const at = address.indexOf('#');
  return at < 0 ? [address] : [address.slice(0, at), decoded(address.slice(at + 1))];
};

const shown = (address: string): string => (address.startsWith(NOWHERE) ? '#' : address);

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
