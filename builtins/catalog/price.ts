/** A price above this, a dollar for each token, is a mistake and not used. */
const MAX_PRICE = 1_000_000;

/** Whether a value is US dollars that something may cost. */
export const isPrice = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= MAX_PRICE;
