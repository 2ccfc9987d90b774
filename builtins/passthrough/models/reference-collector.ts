/** Distinct strings that are kept of one body; a body that names more is refused. Source: OpenAI API reference, "Vector store file batches", at most 2,000 files, 2026-11-22. */
const MOST = 10_000;

/**
 * Members whose strings name files, whatever stands between: `file_id`, `file_ids`, `training_file`, `input_file_id`, and `source` with its
 * `{type: "file_id", id}`. Source: OpenAI API reference, "Responses", "Fine-tuning", "Vector stores", "Evals", 2026-11-22.
 */
const NAMES_FILES = /^(?:(?:.+_)?file(?:_ids?)?|files|source)$/;

/**
 * Collects the strings below members that name files, at any depth, while a body is scanned. It keeps strings that name nothing too, such
 * as names of files: they are looked up in vain.
 */
export class ReferenceCollector {
  readonly found = new Set<string>();
  /** The string that was read last: a name where a colon follows, else a value. */
  #last: string | undefined;
  /** Depth of the object whose member is read, while that names files. */
  #below: number | undefined;

  get isOver(): boolean {
    return this.found.size > MOST;
  }

  /** What comes next belongs to nothing that came before. */
  forget(): void {
    this.#last = undefined;
    this.#below = undefined;
  }

  string(text: unknown): void {
    this.#last = typeof text === 'string' ? text : undefined;
  }

  colon(depth: number): void {
    if (this.#below === undefined && this.#last !== undefined && NAMES_FILES.test(this.#last)) this.#below = depth;
    this.#last = undefined;
  }

  /** A comma of the list or object at this depth, or its end. */
  ends(depth: number): void {
    if (this.#below !== undefined && this.#last !== undefined && !this.isOver) this.found.add(this.#last);
    this.#last = undefined;
    if (this.#below !== undefined && depth <= this.#below) this.#below = undefined;
  }
}
