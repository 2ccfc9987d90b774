import { nextRound, nextTurn } from '../common/next-turn.ts';

/** Part of a long list, and the way to the part behind it, where there is one. */
export interface Slice<T> {
  readonly items: readonly T[];
  readonly next?: (() => Slice<T> | Promise<Slice<T>>) | undefined;
}

/** The text of a JSON array, to the letter that of the whole. Each slice is read in one turn and written in another: others are served in between. */
export async function* arrayOf<T>(first: Slice<T>, shown: (item: T) => object): AsyncGenerator<string> {
  let isEmpty = true;
  yield '[';
  for (let slice: Slice<T> | undefined = first; slice; slice = await slice.next?.()) {
    await nextRound();
    if (slice.items.length > 0) {
      const text = slice.items.map((item) => JSON.stringify(shown(item))).join(',');
      yield isEmpty ? text : `,${text}`;
      isEmpty = false;
    }
    await nextTurn();
  }
  yield ']';
}

/** Pieces with a text before and behind them. */
export async function* within(before: string, pieces: AsyncIterable<string>, behind: string): AsyncGenerator<string> {
  yield before;
  yield* pieces;
  yield behind;
}

/** As they leave; what one turn makes leaves in one piece. */
export async function* encoded(pieces: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let held = '';
  for await (const piece of pieces) {
    held += piece;
    if (piece.length < SHORT) continue;
    yield Buffer.from(held);
    held = '';
  }
  yield Buffer.from(held);
}

/** Characters of a piece that waits for the next one. */
const SHORT = 256;

/** A list that is there already, as slices. */
export function slicesOf<T>(items: readonly T[], size: number, from = 0): Slice<T> {
  const end = from + size;
  return { items: items.slice(from, end), next: end < items.length ? () => slicesOf(items, size, end) : undefined };
}
