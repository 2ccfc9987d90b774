import { type Account, accountOf } from './account.ts';
import type { WrittenAccount } from './account-members.ts';
import { depthOf, isTagPattern, kindOfPath, parentOf, pathProblem, ROOT } from './account-path.ts';

/** What a tree is made of. */
export interface TreeSources {
  /** By the configuration. What it has counts whole, and what is stored of it rests. */
  readonly declared: readonly WrittenAccount[];
  readonly stored: readonly WrittenAccount[];
  /** The time zone of budgets that name none. */
  readonly timezone: string;
  readonly version?: number;
}

/** Answers that are kept, so that a request makes none anew. More are made again each time. */
const MOST_KEPT = 10_000;

/**
 * Accounts and tags at one moment. It never changes: an applied configuration and a changed account make another one.
 * An account exists where it is written, where another below it is, or where its parent has defaults for its children.
 */
export class AccountTree {
  readonly version: number;
  /** `/`, which stands above every request. */
  readonly root: Account;
  readonly #timezone: string;
  readonly #known = new Map<string, Account>();
  readonly #patterns: readonly Account[];
  readonly #chains = new Map<string, readonly Account[]>();
  readonly #tags = new Map<string, readonly Account[]>();

  constructor({ declared, stored, timezone, version = 0 }: TreeSources) {
    this.version = version;
    this.#timezone = timezone;
    const declaredPaths = new Set(declared.map(({ path }) => path));
    const written = new Map([...stored, ...declared].map((account) => [account.path, account]));
    for (const path of pathsOf(written)) {
      const origin = declaredPaths.has(path) ? 'declared' : written.has(path) ? 'stored' : 'implied';
      const parent = this.#known.get(parentOf(path) ?? '');
      this.#known.set(path, accountOf({ path, origin, written: written.get(path), parent, timezone }));
    }
    this.root =
      this.#known.get(ROOT) ??
      accountOf({ path: ROOT, origin: 'implied', written: undefined, parent: undefined, timezone });
    this.#patterns = [...this.#known.values()].filter(({ path }) => isTagPattern(path));
  }

  /** Nothing is written: no key is bound by anything but itself. */
  get isEmpty(): boolean {
    return this.#known.size === 0;
  }

  /** Accounts and tags that are written, and the accounts above them; each after its parent. */
  known(): IterableIterator<Account> {
    return this.#known.values();
  }

  /** Also one that only the defaults of its parent make; a value of a pattern is found by its own path. */
  find(path: string): Account | undefined {
    const known = this.#known.get(path);
    if (known) return known;
    if (path === ROOT) return this.root;
    if (pathProblem(path) !== undefined) return undefined;
    if (kindOfPath(path) === 'tag') return this.tags([path.slice(1)])[0];
    const parent = this.find(parentOf(path) ?? '');
    return parent?.effective.child_default
      ? accountOf({ path, origin: 'implied', written: undefined, parent, timezone: this.#timezone })
      : undefined;
  }

  /** From an account to `/`; `undefined` where the account does not exist. Without a path it is `/` alone. */
  chain(path: string = ROOT): readonly Account[] | undefined {
    const kept = this.#chains.get(path);
    if (kept) return kept;
    const leaf = path === ROOT ? this.root : this.find(path);
    if (leaf?.kind !== 'account') return undefined;
    const above = parentOf(path);
    const chain = above === undefined ? [leaf] : [leaf, ...(this.chain(above) ?? [])];
    keep(this.#chains, path, chain);
    return chain;
  }

  /** What tags of these names bind: of each the exact one, then patterns. Names in ascending order, each once. */
  tags(names: readonly string[]): readonly Account[] {
    const [first, ...others] = names;
    if (first === undefined) return NONE;
    if (others.length === 0) return this.#tagsOf(first);
    return [...new Set(names)].toSorted().flatMap((name) => this.#tagsOf(name));
  }

  #tagsOf(name: string): readonly Account[] {
    const kept = this.#tags.get(name);
    if (kept) return kept;
    const exact = this.#known.get(`#${name}`);
    const found = [
      ...(exact && !isTagPattern(exact.path) ? [exact] : []),
      ...this.#patterns
        .filter(({ path }) => name.startsWith(path.slice(1, -1)))
        .map((pattern) => valueOf(pattern, name)),
    ];
    keep(this.#tags, name, found);
    return found;
  }
}

const NONE: readonly never[] = Object.freeze([]);

/** A value of a pattern has budgets of its own; all else is the pattern's. */
const valueOf = (pattern: Account, name: string): Account => ({
  ...pattern,
  path: `#${name}`,
  pattern: pattern.path,
  origin: 'implied',
  budgetId: `${pattern.budgetId}~${name}`,
});

function keep<T>(kept: Map<string, T>, name: string, value: T): void {
  if (kept.size < MOST_KEPT) kept.set(name, value);
}

/** What is written and the accounts above it, each behind its parent. Of `/` only where it is written, or anything is below. */
function pathsOf(written: ReadonlyMap<string, WrittenAccount>): readonly string[] {
  const paths = new Set<string>();
  for (const path of written.keys())
    for (let each: string | undefined = path; each !== undefined && !paths.has(each); each = parentOf(each))
      paths.add(each);
  return [...paths].toSorted((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
}
