type Close = () => Promise<void> | void;

let closers: Close[] = [];

/** Runs after the test, whatever its outcome; last registered first. */
export function atEnd(close: Close): void {
  closers.push(close);
}

export async function closeAll(): Promise<void> {
  const due = closers.toReversed();
  closers = [];
  for (const close of due) await close();
}

/** Starts something before the tests of the suite it is called in; it is gone after the last of them. */
export function forSuite<T>(start: () => Promise<T>): () => T {
  let started: readonly [T] | undefined;
  let own: Close[] = [];
  before(async () => {
    try {
      started = [await start()];
    } finally {
      own = closers;
      closers = [];
    }
  });
  after(async () => {
    closers = own;
    await closeAll();
  });
  return () => {
    if (!started) throw new Error('this starts before the first test of its suite');
    return started[0];
  };
}
