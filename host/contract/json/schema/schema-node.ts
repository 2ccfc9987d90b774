import type { Resource } from './schema-references.ts';

/** Where a value does not fit, seen from the value that was looked at: the way down, as a JSON pointer. */
export interface Finding {
  readonly path: string;
  readonly message: string;
}

/** One look at a value. */
export interface Run {
  /** How many schemas may still be compared with a value. */
  left: number;
  /** The resources that the look has come through, the outermost first; kept only where a reference asks for them. */
  readonly scope: Resource[];
}

/** What schemas have looked at of one object or list, for the keywords that speak of the rest. */
export class Seen {
  readonly names = new Set<string>();
  /** Items up to this one, and further ones. */
  first = 0;
  readonly items = new Set<number>();
  isWhole = false;

  add({ names, first, items, isWhole }: Seen): void {
    for (const name of names) this.names.add(name);
    for (const item of items) this.items.add(item);
    this.first = Math.max(this.first, first);
    this.isWhole ||= isWhole;
  }

  hasName(name: string): boolean {
    return this.isWhole || this.names.has(name);
  }

  hasItem(at: number): boolean {
    return this.isWhole || at < this.first || this.items.has(at);
  }
}

/** Compares a value with one keyword, or with what belongs together. */
export type Rule = (value: unknown, run: Run, seen: Seen | undefined) => Finding | undefined;

/** A finding about the value that is looked at. */
export const finding = (message: string): Finding => ({ path: '', message });

/** A finding of a part, seen from the value that holds it. */
export const within = (name: string | number, { path, message }: Finding): Finding => ({
  path: `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}${path}`,
  message,
});

/** One schema, compiled. Its rules are filled in later, because schemas refer to each other. */
export class Node {
  rules: readonly Rule[] = [];
  /** Schemas that are compared with the same value. */
  readonly inPlace: Node[] = [];
  /** Where dynamic references are resolved by what the look came through; else `undefined`. */
  resource: Resource | undefined;
  /** Whether a keyword of the whole schema speaks of what others have not looked at. */
  readonly #notes: boolean;

  constructor(notes: boolean) {
    this.#notes = notes;
  }

  check(value: unknown, run: Run, outer: Seen | undefined): Finding | undefined {
    if (run.left === 0) throw new Error('the schema has too many ways to look at this value');
    run.left -= 1;
    const { resource } = this;
    if (resource && run.scope.at(-1) !== resource) {
      run.scope.push(resource);
      try {
        return this.#compare(value, run, outer);
      } finally {
        run.scope.pop();
      }
    }
    return this.#compare(value, run, outer);
  }

  #compare(value: unknown, run: Run, outer: Seen | undefined): Finding | undefined {
    const seen = this.#notes ? new Seen() : undefined;
    for (const rule of this.rules) {
      const found = rule(value, run, seen);
      if (found) return found;
    }
    if (seen) outer?.add(seen);
    return undefined;
  }
}
