/** Why a store that answers did not keep what it was given: it met another writer, or one of the rows cannot be kept. */
export type WriteFaultKind = 'conflict' | 'refused';

/** A store answered a write with a no, and kept nothing of it. What the driver said is the cause, for the log alone. */
export class WriteFault extends Error {
  override readonly name = 'WriteFault';
  readonly kind: WriteFaultKind;

  constructor(kind: WriteFaultKind, cause: unknown) {
    super(kind === 'conflict' ? 'the write met another one' : 'the store refuses one of the rows', { cause });
    this.kind = kind;
  }
}

export function isFault(error: unknown, kind: WriteFaultKind): error is WriteFault {
  return error instanceof WriteFault && error.kind === kind;
}
