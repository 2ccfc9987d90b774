import type { Context } from 'mocha';
import { closeInTurn } from '../../host/common/close-all.ts';
import { Missing, skipWithout } from './missing.ts';

type Close = () => Promise<void> | void;

let closers: Close[] = [];

/** Runs after the test, whatever its outcome and that of others; last registered first. In `forSuite`, after the suite. */
export function atEnd(close: Close): void {
  closers.push(close);
}

export async function closeAll(): Promise<void> {
  const due = closers.toReversed();
  closers = [];
  await closeInTurn(due);
}

/**
 * Opens something for all tests of the suite this is called in, before the first of them. What it registers with `atEnd`
 * ends after the last. What this machine does not have skips the suite.
 */
export function forSuite<T>(open: () => Promise<T>): () => T {
  let opened: { readonly value: T } | undefined;
  let own: Close[] = [];
  before(async function openFirst(this: Context) {
    const outer = closers;
    closers = [];
    try {
      opened = { value: await open() };
    } catch (error) {
      if (error instanceof Missing) skipWithout(this, error);
      throw error;
    } finally {
      own = closers.toReversed();
      closers = outer;
    }
  });
  after(() => closeInTurn(own));
  return () => {
    if (!opened) throw new Error('the suite has not begun');
    return opened.value;
  };
}
