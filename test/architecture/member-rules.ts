import { type Checker, childrenOf, lineOf, type Node, parse, walk } from './source.ts';

/**
 * Where `object[name] = value` may stand although the name is not written out, and what may stand there: the one function
 * that writes names from outside, places in lists, and keys that are symbols. Everything else goes through `setMember`, or
 * into a `Map`.
 */
export const COMPUTED_WRITES: Readonly<Record<string, readonly string[]>> = {
  'host/contract/exchange-note.ts': ['(exchange as unknown as Noted)[this.#key]'],
  'host/contract/json/json-numbers.ts': ['container[open.place]'],
  'host/contract/json/json-shape.ts': ['fields[depth]'],
  'host/contract/json/members.ts': ['object[name]'],
  'host/generation/slot.ts': ['this.#leases[lease.at]'],
  'host/http/connections/connections.ts': ['socket[underWay]'],
  'host/http/context.ts': ['(response as WithContext)[contexts]'],
  'host/http/connections/declined-upgrades.ts': ['(request as Declined)[endsAt]'],
  'host/http/body/leftovers.ts': ['socket[dropping]', '(socket as EndingSocket)[ending]'],
  'host/http/body/read-body.ts': ['(request as Invitable)[invitation]', '(request as Stoppable)[stopping]'],
  'host/http/paths/canonical-path.ts': ['request[cameWith]'],
  'host/http/tls/secure-server.ts': ['(socket as NamedSocket)[clientName]'],
  'host/http/running-requests.ts': ['this.#contexts[context.place]'],
  'host/log/logger.ts': ['insides[symbols.asJsonSym]'],
  'host/log/needles.ts': ['this.#pairs[pairAt(needle, offset)]', 'this.#grams[hash]'],
  'host/pipeline/attempts/attempt.ts': ['attempt[this.#key]'],
  'host/stores/log/log-queue.ts': ['this.#items[this.#head]'],
  'builtins/identity/code-flow.ts': ['configuration[client.customFetch]'],
  'builtins/telemetry/metrics/family.ts': ['found.inBucket[place]'],
  'builtins/routing/median.ts': ['this.#ring[this.#next]', 'this.#sorted[at]'],
  'plugins/_common/json-text.ts': ['places[read.length + place]', 'places[read.length]'],
  'plugins/_common/plain-text.ts': ['this.#places[at]', 'this.#places[this.#length]'],
  'plugins/secret-scan/entropy.ts': ['counts[code]'],
  'providers/bedrock/converse/messages.ts': ['last.content[at]'],
  'providers/bedrock/embeddings.ts': ['replies[place]'],
  'strategies/least-latency.ts': ['targets[at]', 'targets[last]'],
};

/** Refuses writes to members whose name is computed, and copies of whole objects that write each member by assignment. */
export const computedWrites: Checker = (path, source) => {
  const allowed = COMPUTED_WRITES[path] ?? [];
  return writesIn(path, source)
    .filter(({ text }) => !allowed.includes(text))
    .map(({ text, line }) => `${path}:${line}: ${text}`);
};

export interface Write {
  readonly text: string;
  readonly line: number;
}

export function writesIn(path: string, source: string): Write[] {
  const found: Node[] = [];
  walk(parse(path, source), (node) => {
    for (const target of targetsOf(node)) found.push(...membersOf(target).filter(isComputed));
    if (isCopy(node)) found.push(node);
  });
  return found.map((node) => ({ text: source.slice(node.start, node['end']), line: lineOf(source, node) }));
}

/** What a node assigns to: one place, or several by destructuring. */
function targetsOf(node: Node): Node[] {
  if (node.type === 'AssignmentExpression') return leavesOf(node['left'] as Node);
  if (node.type === 'ForOfStatement' || node.type === 'ForInStatement') return leavesOf(node['left'] as Node);
  return node.type === 'UpdateExpression' ? [node['argument'] as Node] : [];
}

function leavesOf(node: Node): Node[] {
  switch (node.type) {
    case 'Property':
      return leavesOf(node['value'] as Node);
    case 'AssignmentPattern':
      return leavesOf(node['left'] as Node);
    case 'RestElement':
      return leavesOf(node['argument'] as Node);
    case 'ObjectPattern':
    case 'ArrayPattern':
      return childrenOf(node).flatMap(leavesOf);
    default:
      return [node];
  }
}

/** `a[b].c` and `a[b]` of `a[b].c`: a write below a computed member reaches whatever that member is. */
function membersOf(node: Node): Node[] {
  switch (node.type) {
    case 'MemberExpression':
      return [node, ...membersOf(node['object'] as Node)];
    case 'ChainExpression':
    case 'TSNonNullExpression':
    case 'TSAsExpression':
      return membersOf(node['expression'] as Node);
    default:
      return [];
  }
}

/** Who may call `JSON.parse`: what reads files of the installation, what is bounded by other means, and the one function for everything else. */
export const PARSERS: readonly string[] = [
  'host/contract/json/json.ts',
  'host/contract/json/json-numbers.ts',
  'host/config/parse.ts',
  'host/log/bounded-line.ts',
  'host/log/logger.ts',
  'host/log/pretty-line.ts',
  'host/environment/build-info.ts',
  'host/wire/known-frames.ts',
  'host/http/metadata-header.ts',
  'builtins/catalog/build/make.ts',
  'builtins/catalog/build/rules.ts',
  'builtins/catalog/build/tiers.ts',
  'builtins/catalog/build/write-tiers.ts',
  'builtins/dashboard/app/src/pages/configuration/document-text.ts',
  'builtins/catalog/load.ts',
  'builtins/cli/explain.ts',
  'builtins/dashboard/app/src/lib/json.ts', // in the reader's own browser
];

/** Refuses `JSON.parse`, which takes any depth and any size: `parseJson` bounds both. */
export const unboundedJson: Checker = (path, source) => {
  const found: string[] = [];
  walk(parse(path, source), (node) => {
    const isParse =
      node.type === 'MemberExpression' &&
      node['object'].name === 'JSON' &&
      (node['property'].name === 'parse' || node['property'].value === 'parse');
    const isTaken =
      node.type === 'VariableDeclarator' && node['init'] && uncast(node['init'] as Node)['name'] === 'JSON';
    if ((isParse || isTaken) && !PARSERS.includes(path)) found.push(`${path}:${lineOf(source, node)}: JSON.parse`);
  });
  return found;
};

const uncast = (node: Node): Node => (node.type === 'TSAsExpression' ? uncast(node['expression'] as Node) : node);

const ARITHMETIC = new Set(['-', '*', '/', '%', '&', '|', '^', '<<', '>>', '>>>']);

/** Neither written out nor a number by its form. */
function isComputed({ computed, property }: Node): boolean {
  if (!computed) return false;
  const name = property as Node;
  switch (name.type) {
    case 'Literal':
    case 'UpdateExpression':
      return false;
    case 'BinaryExpression':
      return !ARITHMETIC.has(String(name['operator']));
    case 'CallExpression':
      return !/^(Number|Math)$/.test(String(name['callee'].name ?? name['callee'].object?.name));
    default:
      return true;
  }
}

/** `Object.assign` of anything but members that are written out; `Reflect.set`; a prototype that is exchanged. */
function isCopy(node: Node): boolean {
  if (node.type !== 'CallExpression' || node['callee'].type !== 'MemberExpression') return false;
  const name = `${String(node['callee'].object.name)}.${String(node['callee'].property.name)}`;
  if (name === 'Reflect.set' || /^(Object|Reflect)\.setPrototypeOf$/.test(name)) return true;
  const [, ...sources] = node['arguments'] as readonly Node[];
  return name === 'Object.assign' && !sources.every(isWrittenOut);
}

function isWrittenOut(node: Node): boolean {
  return (
    node.type === 'ObjectExpression' &&
    (node['properties'] as readonly Node[]).every(
      (member) => member.type === 'Property' && !isComputed({ ...member, property: member['key'] }),
    )
  );
}
