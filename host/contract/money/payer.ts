/** Who pays for a request. What is left of budgets is the host's alone. */
export interface Payer {
  /** Path of the account that the key belongs to; `undefined` where it names none. */
  readonly account: string | undefined;
  /**
   * Tags that count, of the key and of the request, each once and in their order of names;
   * `undefined` where there are none.
   */
  readonly tags: readonly string[] | undefined;
  /** The model that was asked for, where a budget has another one used. */
  readonly overFrom: string | undefined;
}
