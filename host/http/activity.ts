/** Counts requests in flight, so that a shutdown knows when the last one is over. */
export interface Activity {
  begin(): void;
  end(): void;
  readonly count: number;
  /** Resolves once nothing is in flight. */
  idle(): Promise<void>;
}

export function createActivity(): Activity {
  let count = 0;
  let waiters: (() => void)[] = [];
  return {
    begin: () => {
      count += 1;
    },
    end: () => {
      count -= 1;
      if (count > 0) return;
      for (const waiter of waiters) waiter();
      waiters = [];
    },
    get count() {
      return count;
    },
    idle: () =>
      count === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiters.push(resolve);
          }),
  };
}
