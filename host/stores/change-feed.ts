/** What other processes change in a store, as this one hears of it. A store of this process alone has none. */
export interface ChangeFeed {
  /**
   * Monotonic milliseconds: what was read then or later is still so, except for the changes reported since. While nothing can be heard
   * it stays a fixed time behind, so that what is kept in memory is never older than that.
   */
  freshSince(): number;
  /** `undefined`: anything may have changed. */
  onChange(changed: (id: string | undefined) => void): void;
  /** What an administrator should know of it now. */
  note?(): string | undefined;
}
