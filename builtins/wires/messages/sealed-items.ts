import { isBeforeText, isOfResponses } from '../../../host/common/sealed-thoughts.ts';
import { type Fields, isText, type ToolCallDelta } from '../../../host/contract/index.ts';

const NOTHING: readonly Fields[] = Object.freeze([]);

/**
 * Items that only another vendor reads, and that wait for a place. A block behind the last text hides that text from clients
 * that print the last block, and a block inside a call would cut it. So they stand in front of a call: their own, or the
 * next one. Which call an item belongs to is said by its id, not by its place.
 */
export class SealedItems {
  readonly #ofCalls = new Map<string, Fields[]>();
  #loose: Fields[] = [];
  /** Some of them belong in front of the text that comes next. */
  #isBeforeText = false;

  /** Keeps an item for the call that it names, where that call comes with it or waits to be written. */
  keepForCall(item: Fields, calls: readonly ToolCallDelta[], isWaiting: (id: string) => boolean): boolean {
    const { id } = item;
    if (!isText(id) || !(calls.some((call) => call.id === id) || isWaiting(id))) return false;
    const items = this.#ofCalls.get(id);
    if (items) items.push(item);
    else this.#ofCalls.set(id, [item]);
    return true;
  }

  keep(item: Fields): void {
    this.#loose.push(item);
    if (isBeforeText(item)) this.#isBeforeText = true;
  }

  /** What goes in front of a call that is written now. */
  takeFor(id: string): readonly Fields[] {
    const items = [...this.takeLoose(), ...(this.#ofCalls.get(id) ?? [])];
    this.#ofCalls.delete(id);
    return items;
  }

  /** What waits and is not kept for a call: a text behind a call has place for it in front. */
  takeLoose(): readonly Fields[] {
    const items = this.#loose;
    this.#loose = [];
    this.#isBeforeText = false;
    return items;
  }

  /** What waits, where some of it belongs in front of the text that comes next. */
  takeBeforeText(): readonly Fields[] {
    return this.#isBeforeText ? this.takeLoose() : NOTHING;
  }

  /** What came behind a call that was written before, and that it or its vendor needs: the rest has no place at the end of an answer. */
  takeLate(isWritten: (id: string) => boolean): readonly Fields[] {
    return this.takeLoose().filter((item) => isOfResponses(item) || (isText(item['id']) && isWritten(item['id'])));
  }
}

/** Items of one envelope. Pieces of one item become one; of one index there may be several kinds: a text and what seals it. */
export class SealedEnvelope {
  readonly items: Fields[] = [];
  readonly #known = new Map<string, Fields>();

  add(item: Fields): void {
    const { index, type, id, data, signature } = item;
    const key = index === undefined ? undefined : JSON.stringify([index, type, id]);
    const known = key === undefined ? undefined : this.#known.get(key);
    if (key !== undefined && !known) this.#known.set(key, item);
    if (!known || isText(data)) this.items.push(item);
    else if (isText(signature)) known['signature'] = (isText(known['signature']) ? known['signature'] : '') + signature;
  }
}
