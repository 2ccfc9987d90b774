import type { Fields } from '../contract/index.ts';

/** What is in force, as it was written. */
export interface InForce {
  readonly document: Fields;
  /** As in `RunningDocument`. */
  readonly version: number;
  readonly mark?: string | undefined;
  readonly isWritten: boolean;
}

/** Other processes of this gateway that serve the same configuration. Nothing is kept that one of them cannot use. */
export interface Companions {
  /** Each of them checks and builds it. Throws where one cannot use it; who does not answer is done without. */
  prepare(document: Fields): Promise<PreparedByAll>;
}

/** All have built it, and none serves it yet. */
export interface PreparedByAll {
  /** Resolves once none of them serves what was in force before. */
  commit(inForce: InForce): Promise<void>;
  abort(): void;
}

/** A configuration that is built and does not serve yet: no other change begins before it is decided. */
export interface Staged {
  /** Resolves once it serves. */
  commit(inForce: InForce): Promise<void>;
  abort(): void;
}

/** It was built, and is not to serve. */
export class StageAborted extends Error {
  override readonly name = 'StageAborted';
}
