/** What was spent elsewhere before a sum begins here. It is written with what it belongs to, and only where nothing has been counted under its name. */
export interface Opening {
  readonly ledger: string;
  readonly key: string;
  /** Whole micro-dollars, tokens or requests. */
  readonly amount: number;
  readonly limit: number;
  /** Unix milliseconds; `undefined` of what never ends. */
  readonly endsAt: number | undefined;
}
