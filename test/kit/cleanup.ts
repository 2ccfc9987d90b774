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
