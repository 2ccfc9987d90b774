import type { Line } from './judge.ts';

/**
 * Faults that are known and being mended: each line goes with its mend, and an empty list is the aim. Not a place for
 * differences that are right: those are in `accepted.ts`, with their reasons.
 */
export const PENDING: readonly Line[] = [];

/** Findings of the strict validators of `test/kit/strict` that wait for a change. */
export const PENDING_REFUSALS: readonly {
  readonly providers: RegExp;
  readonly problems: RegExp;
  readonly why: string;
}[] = [];
