/** Where a SQLite database is, and what is set on its connection. */
export interface SqliteSource {
  /** A path, or `:memory:`. */
  readonly file: string;
  /** Statements of the query: `_pragma=busy_timeout(5000)`. */
  readonly pragmas: readonly (readonly [name: string, value: string])[];
}

const MEMORY = ':memory:';

/**
 * Reads what operators write: a path, a path with `?query`, a `file:` address, `:memory:`. Throws what is wrong with it, without the
 * name of the variable. See docs/reference/admin.md#sqlite-addresses.
 */
export function readSqliteDsn(dsn: string): SqliteSource {
  const [location, query] = split(dsn);
  const isUri = /^file:/i.test(location);
  const parameters = new URLSearchParams(query);
  const pragmas = parameters.entries().flatMap(pragmaOf).toArray();
  if (location === MEMORY || (isUri && (parameters.get('mode') === 'memory' || pathOf(location) === MEMORY)))
    return { file: MEMORY, pragmas };
  const file = isUri ? pathOf(location) : location;
  if (file === '') throw new Error('it names no file');
  return { file, pragmas };
}

/** The DSN of another store beside this one: `keys.db` and `keys-sessions.db` stand side by side. A database in memory has no place. */
export function derivedDsn(dsn: string, suffix: string): string {
  if (readSqliteDsn(dsn).file === MEMORY) return dsn;
  const [location, query] = split(dsn);
  const base = location.replace(/(?<=[^/\\])\.[^./\\]*$/, '');
  return `${base}-${suffix}.db${query === undefined ? '' : `?${query}`}`;
}

export function isMemory({ file }: SqliteSource): boolean {
  return file === MEMORY;
}

function split(dsn: string): readonly [location: string, query: string | undefined] {
  const at = dsn.indexOf('?');
  return at < 0 ? [dsn, undefined] : [dsn.slice(0, at), dsn.slice(at + 1)];
}

/** `file:x`, `file:/x`, `file:///x`, `file://localhost/x`; percent-encoded. */
function pathOf(uri: string): string {
  const rest = uri.slice('file:'.length).replace(/#.*$/, '');
  const [, authority, path = ''] = /^\/\/([^/]*)(.*)$/.exec(rest) ?? [undefined, '', rest];
  if (authority !== '' && authority?.toLowerCase() !== 'localhost')
    throw new Error(`its authority is "${authority}"; a file has none, or localhost`);
  try {
    return decodeURIComponent(path);
  } catch {
    throw new Error('it holds a percent sign that encodes nothing');
  }
}

/** `_pragma=name(value)`, `_pragma=name=value`, `_name=value`. Everything else of a query is for other programs. */
function pragmaOf([name, value]: [string, string]): (readonly [string, string])[] {
  const written =
    name === '_pragma'
      ? /^\s*(\w+)\s*(?:\(\s*([-\w.]+)\s*\)|=\s*([-\w.]+))\s*$/.exec(value)
      : /^_(\w+)=([-\w.]+)$/.exec(`${name}=${value}`);
  if (name === '_pragma' && !written) throw new Error(`its _pragma "${value}" is not of the form name(value)`);
  const [, pragma, first, second] = written ?? [];
  return pragma === undefined ? [] : [[pragma.toLowerCase(), first ?? second ?? '']];
}
