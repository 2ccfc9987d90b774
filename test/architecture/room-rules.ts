import { type Checker, importsOf } from './source.ts';

/**
 * The rooms of `host/`, lowest first: a file imports its own room and those above it in this list, types included. What
 * stands in no folder of its own is the room `host`: the composition of all the others.
 */
export const ROOMS = [
  'contract',
  'common',
  'hooks',
  'cli',
  'log',
  'state',
  'config',
  'stores',
  'environment',
  'registry',
  'boundary',
  'upstream',
  'wire',
  'answer',
  'pipeline',
  'generation',
  'explain',
  'http',
  'workers',
  'host',
  'start',
  'embed',
  'testing',
] as const;

/** The files that stand in no folder. Another one wants a room, or a line in the table of docs/architecture.md. */
export const ROOT_FILES: ReadonlySet<string> = new Set([
  'host/builtin.ts',
  'host/compile-cache.js',
  'host/create-host.ts',
  'host/ensure-installed.js',
  'host/gw.js',
  'host/host-hooks.ts',
  'host/host.ts',
  'host/keep-data.js',
  'host/main.ts',
  'host/own-files.ts',
  'host/stop-signal.ts',
  'host/surface-builtin.ts',
]);

export function roomOf(path: string): string {
  const [, room = '', ...inside] = path.split('/');
  return inside.length === 0 ? 'host' : room;
}

/** Refuses what imports a room that comes later, and files without a room. */
export const roomProblems: Checker = (path, source) => {
  const room = roomOf(path);
  if (room === 'host' && !ROOT_FILES.has(path)) return [`${path}: it stands at the root of host/; put it into a room`];
  if (rankOf(room) < 0) return [`${path}: the list of rooms does not know ${room}`];
  return importsOf(path, source).flatMap(({ file, line }) => {
    if (!file?.startsWith('host/') || rankOf(roomOf(file)) <= rankOf(room)) return [];
    return [`${path}:${line}: ${room} imports ${file}; ${roomOf(file)} comes later`];
  });
};

function rankOf(room: string): number {
  return (ROOMS as readonly string[]).indexOf(room);
}

/** What each file imports, types included, by path. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function importGraph(sources: Iterable<readonly [path: string, source: string]>): ImportGraph {
  const byPath = new Map(sources);
  const among = (path: string, source: string): string[] =>
    importsOf(path, source).flatMap(({ file }) => (file !== undefined && byPath.has(file) ? [file] : []));
  return new Map([...byPath].map(([path, source]) => [path, [...new Set(among(path, source))]]));
}

/** The circles of a graph, each once and from its first file in the alphabet: `a -> b -> a`. */
export function circles(graph: ImportGraph): string[] {
  const found = new Set<string>();
  const isDone = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.add(fromFirst(trail.slice(start)));
      return;
    }
    if (isDone.has(path)) return;
    for (const imported of graph.get(path) ?? []) visit(imported, [...trail, path]);
    isDone.add(path);
  };
  for (const path of [...graph.keys()].toSorted()) visit(path, []);
  return [...found];
}

function fromFirst(circle: readonly string[]): string {
  const start = circle.indexOf(circle.toSorted()[0] ?? '');
  const turned = [...circle.slice(start), ...circle.slice(0, start)];
  return [...turned, turned[0]].join(' -> ');
}
