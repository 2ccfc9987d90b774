/** Micro-dollars that one booking is at most: 1,000 US dollars. An answer that reports more is not believed. */
export const MOST_BOOKING = 1e9;

/** Where every sum stops: the largest number up to which JavaScript, SQLite and Postgres count alike. */
export const MOST_SUM = Number.MAX_SAFE_INTEGER;

/** From 0 to `most`. What is not a number counts as 0: one of them would make every later sum not a number either. */
export function bounded(amount: number, most: number = MOST_SUM): number {
  return amount > 0 ? Math.min(amount, most) : 0;
}
