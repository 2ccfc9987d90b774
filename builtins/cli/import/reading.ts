import { type Path, pathText } from '../../../host/config/problems.ts';
import { isFields, isText } from '../../../host/contract/json/fields.ts';
import { memberOf } from '../../../host/contract/json/members.ts';

/** What became of the values of a document that is imported: each is carried, carried with a difference, or left. */
export class Ledger {
  readonly #marks = new Map<string, Mark>();

  mark(path: Path, fate: Mark['fate'], reason = ''): void {
    this.#marks.set(JSON.stringify(path), { path, fate, reason });
  }

  isMarked(path: Path): boolean {
    return this.#marks.has(JSON.stringify(path));
  }

  /** Closes the book: what stands nowhere in it is left, by the path of each value. */
  close(document: unknown): Outcome {
    for (const path of leavesOf(document, [])) if (!this.#covers(path)) this.mark(path, 'left', NO_COUNTERPART);
    const of = (fate: Mark['fate']): Mark[] =>
      [...this.#marks.values()].filter((mark) => mark.fate === fate && !this.#isInLeft(mark.path));
    return { carried: of('carried'), different: of('different'), left: of('left') };
  }

  /** What stands in something that is left is left with it. */
  #isInLeft(path: Path): boolean {
    return path.some((_part, at) => this.#marks.get(JSON.stringify(path.slice(0, at)))?.fate === 'left');
  }

  #covers(path: Path): boolean {
    return path.some((_part, at) => this.isMarked(path.slice(0, at + 1))) || this.isMarked([]);
  }
}

const NO_COUNTERPART = 'gw has no setting for it';

export interface Mark {
  readonly path: Path;
  readonly fate: 'carried' | 'different' | 'left';
  /** Why it is left, or what is different; empty for what is carried as it is. */
  readonly reason: string;
}

export interface Outcome {
  readonly carried: readonly Mark[];
  readonly different: readonly Mark[];
  readonly left: readonly Mark[];
}

/** Paths of the values that hold no others; an empty list or map is one. */
export function leavesOf(value: unknown, path: Path): Path[] {
  const members: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item, at) => [at, item] as const)
    : isFields(value)
      ? Object.entries(value)
      : [];
  return members.length === 0 ? [path] : members.flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
}

/** One place of the document: what stands there, and where it goes in the book. */
export class Entry {
  readonly value: unknown;
  readonly path: Path;
  readonly #ledger: Ledger;

  constructor(value: unknown, path: Path, ledger: Ledger) {
    this.value = value;
    this.path = path;
    this.#ledger = ledger;
  }

  get isThere(): boolean {
    return this.value !== undefined && this.value !== null;
  }

  get where(): string {
    return pathText(this.path);
  }

  get text(): string | undefined {
    return isText(this.value) ? this.value : undefined;
  }

  /** A finite number, also where it is written as a text. */
  get number(): number | undefined {
    const number = isText(this.value) && /^\d+(\.\d+)?$/.test(this.value) ? Number(this.value) : this.value;
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
  }

  /** The member of this name: of the first name that the document uses, where several mean the same. */
  at(...names: readonly string[]): Entry {
    const fields = isFields(this.value) ? this.value : {};
    const name = names.find((one) => memberOf(fields, one) !== undefined) ?? names[0] ?? '';
    return new Entry(memberOf(fields, name), [...this.path, name], this.#ledger);
  }

  get members(): readonly (readonly [name: string, entry: Entry])[] {
    return isFields(this.value)
      ? Object.entries(this.value).map(
          ([name, value]) => [name, new Entry(value, [...this.path, name], this.#ledger)] as const,
        )
      : [];
  }

  get items(): readonly Entry[] {
    return Array.isArray(this.value)
      ? this.value.map((value: unknown, at) => new Entry(value, [...this.path, at], this.#ledger))
      : [];
  }

  /** It is in the result; with a reason, not quite as it was. What was said first of a value holds. */
  carry(difference?: string): void {
    if (this.isThere && !this.#ledger.isMarked(this.path))
      this.#ledger.mark(this.path, difference === undefined ? 'carried' : 'different', difference);
  }

  /** It is in the result, but what came later changed it. */
  amend(difference: string): void {
    this.#ledger.mark(this.path, 'different', difference);
  }

  /** This place with another text: a part of what stands there. */
  with(text: string): Entry {
    return new Entry(text, this.path, this.#ledger);
  }

  /** It is not in the result, nor is what stands in it. */
  leave(reason: string): void {
    if (this.isThere && !this.#ledger.isMarked(this.path)) this.#ledger.mark(this.path, 'left', reason);
  }
}
