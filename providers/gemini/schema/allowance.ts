/** How large a schema may be by itself, and become by references: schemas, levels, and characters that stand there once more. */
export const MAX_SCHEMAS = 20_000;
export const MAX_DEPTH = 200;
export const MAX_FOLLOWED = 5000;
export const MAX_REPEATED = 256 * 1024;
const MAX_REPEATED_IN_ALL = 16 * MAX_REPEATED;

/** Following so many references makes a schema larger than one may be. */
export class TooLarge extends Error {}

/** What all schemas of one request may cost together, every attempt at them included: a few small ones could ask for hours. */
export class Allowance {
  #schemas = 50_000;
  /** Characters that stand there once more: by references, and where nothing is followed any more by alternatives alone. */
  #followed = MAX_REPEATED_IN_ALL;
  #shared = MAX_REPEATED_IN_ALL;

  spend(): void {
    this.#schemas -= 1;
    if (this.#schemas < 0) throw new TooLarge();
  }

  repeat(characters: number, isFollowing: boolean): void {
    const left = isFollowing ? (this.#followed -= characters) : (this.#shared -= characters);
    if (left < 0) throw new TooLarge();
  }
}
