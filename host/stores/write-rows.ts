import { isFault, type WriteFault } from './write-fault.ts';

export interface RowWriting<Row> {
  /** Keeps all of them or none. Throws a `WriteFault` where the store refuses one of them. */
  readonly write: (rows: readonly Row[]) => Promise<void>;
  /** The store refuses this row by itself: it is not tried again. */
  readonly refused: (row: Row, fault: WriteFault) => void;
}

/** What could not be written, and why: the rows go on waiting, in their order. */
export interface Unwritten<Row> {
  readonly rows: readonly Row[];
  readonly error: unknown;
}

/**
 * Writes rows in their order, together as far as the store takes them. Where it refuses one of them, the halves are written, and their
 * halves, until that row stands alone: no other row is lost with it. At any other failure the rest is given back.
 */
export async function writeRows<Row>(
  rows: readonly Row[],
  { write, refused }: RowWriting<Row>,
): Promise<Unwritten<Row> | undefined> {
  let written = 0;
  const next = async (count: number): Promise<void> => {
    const part = rows.slice(written, written + count);
    const [first] = part;
    if (first === undefined) return;
    const fault = await refusalOf(() => write(part));
    if (fault && count > 1) {
      await next(Math.ceil(count / 2));
      await next(Math.floor(count / 2));
      return;
    }
    if (fault) refused(first, fault);
    written += count;
  };
  try {
    await next(rows.length);
    return undefined;
  } catch (error) {
    return { rows: rows.slice(written), error };
  }
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
