import { isFault, type WriteFault } from './write-fault.ts';

export interface RowWriting<Row> {
  /**
   * Keeps all of them or none. Throws a `WriteFault` where the store refuses one of them. Who gets a number again gets the same rows with it, and
   * keeps them once.
   */
  readonly write: (rows: readonly Row[], number: number) => Promise<void>;
  /** The store refuses this row by itself: it is not tried again. */
  readonly refused: (row: Row, fault: WriteFault) => void;
  /** Cuts rows into what is written together; all of them unless said. */
  readonly cut?: (rows: readonly Row[]) => readonly (readonly Row[])[];
}

/** Why rows are still held. */
export interface Unwritten {
  readonly error: unknown;
}

/** Rows that are written together. They have a number once they were sent: until the store answers it is not known whether it has them. */
interface Batch<Row> {
  readonly rows: readonly Row[];
  number?: number;
}

/**
 * Writes rows in their order, together as far as the store takes them. Where it refuses one of them, the halves are written, and their
 * halves, until that row stands alone: no other row is lost with it. At any other failure the batch is held, unchanged, and sent again under its
 * number by the next call: an answer that was lost may have said that it is kept (docs/stores.md#once-each).
 */
export class RowWriter<Row> {
  readonly #writing: RowWriting<Row>;
  #held: readonly Batch<Row>[] = [];
  #number = 0;

  constructor(writing: RowWriting<Row>) {
    this.#writing = writing;
  }

  /** What was given and is not known to be kept, in its order. */
  get held(): readonly Row[] {
    return this.#held.flatMap(({ rows }) => rows);
  }

  get holdsAny(): boolean {
    return this.#held.length > 0;
  }

  /** First what is held, then these; one call at a time. `undefined` once nothing is held any more. */
  async write(rows: readonly Row[]): Promise<Unwritten | undefined> {
    const { cut = (all) => [all] } = this.#writing;
    if (rows.length > 0) this.#held = [...this.#held, ...cut(rows).map((part) => ({ rows: part }))];
    try {
      for (let [batch] = this.#held; batch; [batch] = this.#held) {
        const rest = await this.#send(batch);
        this.#held = [...rest, ...this.#held.slice(1)];
      }
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  /** What is to be sent in its place: nothing, or its halves, which are other batches with numbers of their own. */
  async #send(batch: Batch<Row>): Promise<readonly Batch<Row>[]> {
    const { rows } = batch;
    batch.number ??= this.#nextNumber();
    const { number } = batch;
    const fault = await refusalOf(() => this.#writing.write(rows, number));
    const [first] = rows;
    if (!fault || first === undefined) return [];
    if (rows.length > 1) {
      const middle = Math.ceil(rows.length / 2);
      return [{ rows: rows.slice(0, middle) }, { rows: rows.slice(middle) }];
    }
    this.#writing.refused(first, fault);
    return [];
  }

  #nextNumber(): number {
    this.#number += 1;
    return this.#number;
  }
}

/** Rows in parts of so many at most. */
export function inParts<Row>(rows: readonly Row[], most: number): readonly (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / most) }, (_, at) => rows.slice(at * most, (at + 1) * most));
}

/** Why the store refuses what is written, `undefined` where it was kept. Throws whatever else fails. */
async function refusalOf(write: () => Promise<void>): Promise<WriteFault | undefined> {
  try {
    await write();
    return undefined;
  } catch (error) {
    if (isFault(error, 'refused')) return error;
    throw error;
  }
}
