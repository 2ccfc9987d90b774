import { type Fields, isFields } from '../fields.ts';
import { patternProblem } from '../../text/pattern.ts';
import { requireSize } from '../../text/pattern-size.ts';
import { finding, Node, type Rule } from './schema-node.ts';
import type { Place } from './schema-place.ts';
import { References, type Resource } from './schema-references.ts';
import { type Draft, hasUnevaluated, keywordOf } from './schema-shapes.ts';
import { rulesOf } from './schema-rules.ts';

/** Schemas that one value may be compared with in place, one inside the other, and all of them together. */
const MOST_DEPTH = 200;
const MOST_WAYS = 10_000;

/**
 * Compiles a schema in time that is in proportion to it: each schema in it is read once, and nothing is written as code.
 * Throws for what is not a schema, for keywords that no draft knows, and for references that lead nowhere or in circles.
 */
export function compileSchema(root: Readonly<Fields>, draft: Draft): Node {
  const compiler = new Compiler(root, draft);
  const node = compiler.nodeOf(root);
  compiler.fill();
  return node;
}

const NO_VALUE: Rule = () => finding('boolean schema is false');

class Compiler {
  readonly #draft: Draft;
  readonly #references: References;
  readonly #nodes = new Map<object, Node>();
  readonly #patterns = new Set<string>();
  readonly #open: (readonly [schema: Readonly<Fields>, node: Node, resource: Resource])[] = [];
  readonly #top: Resource;
  readonly #always = new Node(false);
  readonly #never = new Node(false);
  /** Whether the schema has keywords that speak of what others have not looked at, or references that depend on the way to them. */
  readonly #notes: boolean;
  readonly #isDynamic: boolean;
  /** By anchor: the nodes of the resources that have it. */
  readonly #anchored = new Map<string, Map<Resource, Node>>();

  constructor(root: Readonly<Fields>, draft: Draft) {
    this.#draft = draft;
    this.#references = new References(root, draft);
    this.#never.rules = [NO_VALUE];
    const names = this.#references.keywords;
    this.#notes = hasUnevaluated(draft) && (names.has('unevaluatedItems') || names.has('unevaluatedProperties'));
    this.#isDynamic = hasUnevaluated(draft) && (names.has('$dynamicRef') || names.has('$recursiveRef'));
    this.#top = this.#references.top;
  }

  nodeOf(schema: unknown, resource: Resource = this.#top): Node {
    if (schema === true) return this.#always;
    if (schema === false) return this.#never;
    if (!isFields(schema)) throw new Error('schema is invalid: a reference leads to what is not a schema');
    let node = this.#nodes.get(schema);
    if (node) return node;
    this.#nodes.set(schema, (node = new Node(this.#notes)));
    const own = this.#references.resourceOf(schema) ?? resource;
    if (this.#isDynamic) node.resource = own;
    this.#open.push([schema, node, own]);
    return node;
  }

  fill(): void {
    for (const [anchor, resource, schema] of this.#isDynamic ? this.#references.dynamicAnchors() : []) {
      const nodes = this.#anchored.get(anchor) ?? new Map<Resource, Node>();
      this.#anchored.set(anchor, nodes.set(resource, this.nodeOf(schema, resource)));
    }
    for (let next = this.#open.pop(); next; next = this.#open.pop()) {
      const [schema, node, resource] = next;
      this.#requireKnown(schema);
      node.rules = rulesOf(this.#placeOf(schema, node, resource));
    }
    requireSize([...this.#patterns]);
    requireEnd([...this.#nodes.values()]);
  }

  #placeOf(holder: Readonly<Fields>, node: Node, resource: Resource): Place {
    const inside = (schema: unknown): Node => this.nodeOf(schema, resource);
    const kept = (beside: Node): Node => {
      node.inPlace.push(beside);
      return beside;
    };
    return {
      draft: this.#draft,
      holder,
      inside,
      inPlace: (schema) => kept(inside(schema)),
      reference: (text) => kept(this.nodeOf(...this.#references.resolve(text, resource))),
      isDynamic: (text) => {
        const [schema, of] = this.#references.resolve(text, resource);
        const anchor = text.slice(text.indexOf('#') + 1);
        return of.dynamic.has(anchor) && (anchor === '' ? of.root : of.anchors.get(anchor)) === schema;
      },
      dynamic: (anchor, scope) => {
        const nodes = this.#anchored.get(anchor);
        for (const each of scope) if (nodes?.has(each)) return nodes.get(each);
        return undefined;
      },
    };
  }

  #requireKnown(schema: Readonly<Fields>): void {
    for (const [name, value] of Object.entries(schema)) {
      if (name === 'id') throw new Error('NOT SUPPORTED: keyword "id", use "$id" for schema ID');
      if (!keywordOf(this.#draft, name) && !name.startsWith('x-')) throw new Error(`unknown keyword: "${name}"`);
      if (name === 'pattern') this.#requirePattern(String(value));
      if (name === 'patternProperties')
        for (const pattern of Object.keys(value as object)) this.#requirePattern(pattern);
    }
  }

  #requirePattern(pattern: string): void {
    if (this.#patterns.has(pattern)) return;
    const why = patternProblem(pattern);
    if (why !== undefined) throw new Error(why);
    this.#patterns.add(pattern);
  }
}

/** What is known of a node while its circles are looked for. */
interface Reach {
  depth: number;
  ways: number;
}

/** Refuses schemas that compare one value with themselves again, or with more schemas than can be waited for. */
function requireEnd(nodes: readonly Node[]): void {
  const known = new Map<Node, Reach>();
  for (const node of nodes) reachOf(node, known);
}

/** Goes through the nodes without calling itself: a schema may be a chain of thousands. */
function reachOf(start: Node, known: Map<Node, Reach>): void {
  const way: (readonly [Node, Iterator<Node>])[] = [];
  const onWay = new Set<Node>();
  const enter = (node: Node): void => {
    way.push([node, node.inPlace[Symbol.iterator]()]);
    onWay.add(node);
  };
  if (!known.has(start)) enter(start);
  for (let last = way.at(-1); last; last = way.at(-1)) {
    const [node, rest] = last;
    const { value: next, done } = rest.next();
    if (!done) {
      if (onWay.has(next)) throw new Error('schema refers to itself without an end');
      if (!known.has(next)) enter(next);
      if (way.length > MOST_DEPTH)
        throw new Error(`schema compares a value with more than ${MOST_DEPTH} schemas, one inside the other`);
      continue;
    }
    const reaches = node.inPlace.map((each) => known.get(each) ?? { depth: 0, ways: 0 });
    const depth = 1 + reaches.reduce((most, each) => Math.max(most, each.depth), 0);
    const ways = reaches.reduce((sum, each) => sum + each.ways, 1);
    if (depth > MOST_DEPTH)
      throw new Error(`schema compares a value with more than ${MOST_DEPTH} schemas, one inside the other`);
    if (ways > MOST_WAYS) throw new Error(`schema compares a value with more than ${MOST_WAYS} schemas`);
    known.set(node, { depth, ways });
    onWay.delete(node);
    way.pop();
  }
}
