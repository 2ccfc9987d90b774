import { isText } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import type { Piece } from './texts.ts';
import { BLANK_LINE, MAX_WAITING, sealedItem } from './wire.ts';

/** Something of the answer that thoughts may stand in front of: a message, a call, or what the vendor ran itself. */
export interface Follower {
  readonly kind: string;
  /** Where in the common wire it stands, once that is known. */
  readonly place: Fields | undefined;
}

/** An item of thoughts. */
export class Reasoning {
  readonly kind = 'reasoning';
  readonly index: number;
  /** What follows it; `undefined` until that has come. */
  next: Follower | undefined;
  /** What its vendor sealed, while that waits. */
  sealed: string | undefined;
  /** Whether that has been written, or stays behind. */
  isSettled = false;
  /** The form that its text comes in, the first one that says something. */
  form: 'summary' | 'content' | undefined;
  readonly said = new Set<unknown>();

  constructor(index: number) {
    this.index = index;
  }
}

/** The thoughts of an answer: their text, and what its vendor sealed, which waits until it is known what follows. */
export class Thoughts {
  readonly #origin: string | undefined;
  readonly #items: Reasoning[] = [];
  #waiting = 0;
  #hasText = false;

  constructor(origin: string | undefined) {
    this.#origin = origin;
  }

  open(index: number): Reasoning {
    const item = new Reasoning(index);
    this.#items.push(item);
    return item;
  }

  say(item: Reasoning, form: 'summary' | 'content', place: unknown, text: unknown): Piece[] {
    if (!isText(text) || (item.form !== undefined && item.form !== form)) return [];
    item.form = form;
    const lead = this.#hasText && !item.said.has(place) ? BLANK_LINE : '';
    this.#hasText = true;
    item.said.add(place);
    return [{ delta: { reasoning_content: lead + text } }];
  }

  /** A part that is over: its text, unless that has been said. */
  closePart(item: Reasoning, form: 'summary' | 'content', place: unknown, text: unknown): Piece[] {
    return item.said.has(place) ? [] : this.say(item, form, place, text);
  }

  /** An item that is over. */
  close(item: Reasoning, { summary, content, encrypted_content: sealed }: Fields): Piece[] {
    const pieces = (['summary', 'content'] as const).flatMap((form) => {
      const parts: unknown = form === 'summary' ? summary : content;
      return Array.isArray(parts)
        ? parts.flatMap((part: unknown, at) =>
            this.closePart(item, form, at, isFields(part) ? part['text'] : undefined),
          )
        : [];
    });
    return [...pieces, ...this.seal(item, sealed)];
  }

  /** The form in which an item comes back with the next turn. */
  seal(item: Reasoning, sealed: unknown): Piece[] {
    if (!item.isSettled && item.sealed === undefined && isText(sealed)) {
      this.#waiting += sealed.length;
      if (this.#waiting > MAX_WAITING) throw new Error('the sealed thoughts have no end');
      item.sealed = sealed;
    }
    return item.next ? this.#write(item, item.next) : [];
  }

  /** Something else has come: thoughts that waited for it belong in front of it. */
  precede(follower: Follower, index: number): Piece[] {
    for (const item of this.#items) if (!item.next && item.index < index) item.next = follower;
    return this.release(follower);
  }

  /** The place of a follower is known. */
  release(follower: Follower): Piece[] {
    return this.#items.flatMap((item) => (item.next === follower ? this.#write(item, follower) : []));
  }

  /** Nothing follows any more. */
  end(): Piece[] {
    return this.#items.flatMap((item) => (item.next ? [] : this.#put(item, {})));
  }

  /** Thoughts in front of what the vendor ran itself stay behind: they are refused without it. */
  #write(item: Reasoning, { kind, place }: Follower): Piece[] {
    if (kind === 'aside') this.#settle(item);
    return place ? this.#put(item, place) : [];
  }

  #put(item: Reasoning, place: Fields): Piece[] {
    const { index, sealed } = item;
    if (sealed === undefined) return [];
    this.#settle(item);
    return [{ delta: { reasoning_details: [sealedItem(index, sealed, this.#origin, place)] } }];
  }

  #settle(item: Reasoning): void {
    this.#waiting -= item.sealed?.length ?? 0;
    item.sealed = undefined;
    item.isSettled = true;
  }
}
