import type { ChunkDelta } from 'gw/contract';
import { urlCitations } from '../citations.ts';
import { type Fields, isFields } from '../fields.ts';
import { BLANK_LINE, phaseItem } from './wire.ts';

/** What an event or an item adds to the answer. */
export interface Piece {
  readonly delta: ChunkDelta;
  readonly logprobs?: Fields;
}

/** A part of a message: a text or a refusal. */
interface Part {
  /** Where its text begins in the joined text, in UTF-16 code units. */
  readonly start: number;
  hasWords: boolean;
  hasCitations: boolean;
}

/** A message of the answer. */
export class Message {
  readonly kind = 'message';
  readonly index: number;
  /** Where its text begins in the joined text. */
  start: number;
  hasText = false;
  readonly parts = new Map<unknown, Part>();

  constructor(index: number, start: number) {
    this.index = index;
    this.start = start;
  }
}

/** The texts of all messages of an answer, as one. */
export class Texts {
  /** How long the joined text is, in UTF-16 code units. */
  #length = 0;

  open(index: number): Message {
    return new Message(index, this.#nextStart());
  }

  say(message: Message, place: unknown, text: unknown, logprobs?: unknown): Piece[] {
    if (typeof text !== 'string' || text === '') return [];
    const start = this.#nextStart();
    const lead = !message.hasText && this.#length > 0 ? BLANK_LINE : '';
    if (!message.hasText) message.start = start;
    this.#part(message, place, message.hasText ? this.#length : start).hasWords = true;
    message.hasText = true;
    this.#length += lead.length + text.length;
    return [{ delta: { content: lead + text }, ...likelihoods(logprobs) }];
  }

  refuse(message: Message, place: unknown, words: unknown): Piece[] {
    if (typeof words !== 'string' || words === '') return [];
    this.#part(message, place, this.#length).hasWords = true;
    return [{ delta: { refusal: words } }];
  }

  /** Sources of a part; those of other kinds than addresses have no place in the common wire. */
  cite(message: Message, place: unknown, annotations: readonly unknown[]): Piece[] {
    const found = annotations
      .filter(isFields)
      .filter(({ type, url }) => type === 'url_citation' && typeof url === 'string');
    if (found.length === 0) return [];
    const part = this.#part(message, place, message.hasText ? this.#length : message.start);
    part.hasCitations = true;
    return [{ delta: { annotations: urlCitations(found.map((each) => citationOf(each, part.start))) } }];
  }

  /** A part that is over: whatever of it has not been said. */
  closePart(message: Message, place: unknown, part: unknown): Piece[] {
    if (!isFields(part)) return [];
    const { annotations } = part;
    const isSaid = message.parts.get(place)?.hasWords === true;
    const words = isSaid ? [] : this.#words(message, place, part);
    const isCited = message.parts.get(place)?.hasCitations === true;
    return isCited || !Array.isArray(annotations) ? words : [...words, ...this.cite(message, place, annotations)];
  }

  #words(message: Message, place: unknown, { type, text, refusal, logprobs }: Fields): Piece[] {
    if (type === 'output_text') return this.say(message, place, text, logprobs);
    return type === 'refusal' ? this.refuse(message, place, refusal) : [];
  }

  /** A message that is over. */
  close(message: Message, { content, phase }: Fields): Piece[] {
    const parts = Array.isArray(content) ? content : [];
    const pieces = parts.flatMap((part: unknown, place) => this.closePart(message, place, part));
    if (typeof phase !== 'string' || phase === '' || !message.hasText) return pieces;
    const item = phaseItem(message.index, message.start, this.#length, phase);
    return [...pieces, { delta: { reasoning_details: [item] } }];
  }

  #nextStart(): number {
    return this.#length > 0 ? this.#length + BLANK_LINE.length : 0;
  }

  #part({ parts }: Message, place: unknown, start: number): Part {
    let part = parts.get(place);
    if (!part) parts.set(place, (part = { start, hasWords: false, hasCitations: false }));
    return part;
  }
}

/** Places in a text count from its part; in the common wire from the joined text. */
function citationOf({ url, title, start_index: start, end_index: end }: Fields, base: number) {
  const at = (place: unknown): number => base + (typeof place === 'number' ? place : 0);
  return { url: String(url), title, start: at(start), end: at(end) };
}

function likelihoods(logprobs: unknown): { readonly logprobs?: Fields } {
  if (!Array.isArray(logprobs) || logprobs.length === 0) return {};
  const withBytes = (each: unknown): unknown => (isFields(each) ? { ...each, bytes: each['bytes'] ?? null } : each);
  const content = logprobs.map((each: unknown) => {
    const token = withBytes(each);
    return isFields(token) && Array.isArray(token['top_logprobs'])
      ? { ...token, top_logprobs: token['top_logprobs'].map(withBytes) }
      : token;
  });
  return { logprobs: { content } };
}
