import type { CallInfo, ChatRequest } from 'gw/contract';
import { addAll, type Fields, isFields } from '../fields.ts';
import { Call, Calls } from './calls.ts';
import { Message, type Piece, Texts } from './texts.ts';
import { type Follower, Reasoning, Thoughts } from './thoughts.ts';
import { declaredNames } from './tools.ts';

/** More items than an answer has: each costs far more than its bytes. */
const MAX_ITEMS = 1024;

/** What the vendor ran itself, and what is not known: neither is part of the answer. */
class Aside implements Follower {
  readonly kind = 'aside';
  readonly place = undefined;
}

/** A message as what follows thoughts: they stand in front of its text. */
class TextPlace implements Follower {
  readonly kind = 'message';
  readonly place: Fields;

  constructor(start: number) {
    this.place = { start };
  }
}

type Item = Message | Call | Reasoning | Aside;

/**
 * The output of one response, item by item, as pieces of a message of the common wire. Items are known by their place in the
 * output: some servers change their ids from event to event. Source: vercel/ai, recording "github-copilot-id-rotation", 2026-11-26.
 */
export class Output {
  readonly #items = new Map<number, Item>();
  readonly #texts = new Texts();
  readonly #thoughts: Thoughts;
  readonly #calls: Calls;
  #last = -1;

  constructor(call: CallInfo, request: ChatRequest) {
    this.#thoughts = new Thoughts(call.provider);
    this.#calls = new Calls(declaredNames(request));
  }

  get hasCalls(): boolean {
    return this.#calls.count > 0;
  }

  /** The place that an event speaks of; that of the last item where it does not say. */
  placeOf(index: unknown, isNew = false): number {
    return typeof index === 'number' ? index : Math.max(this.#last + (isNew ? 1 : 0), 0);
  }

  /** An item begins. */
  open(at: number, item: Fields): Piece[] {
    const known = this.#items.get(at);
    if (known instanceof Call) known.take(item);
    if (known) return known instanceof Call ? this.#begin(known) : [];
    switch (item['type']) {
      case 'message':
        return this.#openMessage(at).pieces;
      case 'function_call':
        return this.#openCall(at, 'function', item);
      case 'custom_tool_call':
        return this.#openCall(at, 'custom', item);
      case 'reasoning':
        this.#add(at, this.#thoughts.open(at));
        return [];
      default:
        return this.#follow(at, new Aside());
    }
  }

  /** An item ends: whatever of it has not been said. */
  close(at: number, item: Fields): Piece[] {
    const pieces = this.open(at, item);
    const known = this.#items.get(at);
    if (known instanceof Message) addAll(pieces, this.#texts.close(known, item));
    else if (known instanceof Reasoning) addAll(pieces, this.#thoughts.close(known, item));
    else if (known instanceof Call) addAll(pieces, this.#closeCall(known, item['arguments'] ?? item['input']));
    return pieces;
  }

  text(at: number, part: unknown, text: unknown, logprobs?: unknown): Piece[] {
    return this.#inMessage(at, (message) => this.#texts.say(message, part, text, logprobs));
  }

  refusal(at: number, part: unknown, words: unknown): Piece[] {
    return this.#inMessage(at, (message) => this.#texts.refuse(message, part, words));
  }

  citation(at: number, part: unknown, annotation: unknown): Piece[] {
    return this.#inMessage(at, (message) => this.#texts.cite(message, part, [annotation]));
  }

  /** A part of a message, or of thoughts, ends. */
  closePart(at: number, place: unknown, part: unknown): Piece[] {
    const known = this.#items.get(at);
    const { text } = isFields(part) ? part : {};
    if (known instanceof Reasoning) return this.#thoughts.closePart(known, 'content', place, text);
    return this.#inMessage(at, (message) => this.#texts.closePart(message, place, part));
  }

  thought(at: number, form: 'summary' | 'content', place: unknown, text: unknown): Piece[] {
    return this.#inThoughts(at, (item) => this.#thoughts.say(item, form, place, text));
  }

  closeThought(at: number, form: 'summary' | 'content', place: unknown, text: unknown): Piece[] {
    return this.#inThoughts(at, (item) => this.#thoughts.closePart(item, form, place, text));
  }

  arguments(at: number, type: 'function' | 'custom', text: unknown): Piece[] {
    return this.#inCall(at, type, (call) => this.#calls.say(call, text));
  }

  /** The arguments of a call, whole: they count where no piece of them has come. */
  wholeArguments(at: number, type: 'function' | 'custom', text: unknown): Piece[] {
    return this.#inCall(at, type, (call) => (call.hasArguments ? [] : this.#calls.say(call, text)));
  }

  /** Nothing follows. `output` is the whole list, which has what no event said. */
  end(output: unknown): Piece[] {
    const pieces: Piece[] = [];
    const list = Array.isArray(output) ? output : [];
    const isUnheard = this.#items.size === 0;
    for (const [at, item] of list.entries()) {
      if (!isFields(item)) continue;
      const known = this.#items.get(at);
      if (isUnheard) addAll(pieces, this.close(at, item));
      else if (known instanceof Reasoning && item['type'] === 'reasoning')
        addAll(pieces, this.#thoughts.seal(known, item['encrypted_content']));
    }
    for (const item of this.#items.values())
      if (item instanceof Call && item.name !== '') addAll(pieces, this.#closeCall(item, ''));
    return [...pieces, ...this.#thoughts.end()];
  }

  #add(at: number, item: Item): void {
    if (this.#items.size === MAX_ITEMS) throw new Error(`the answer has more than ${MAX_ITEMS} items`);
    this.#items.set(at, item);
    this.#last = at;
  }

  /** Adds what thoughts may stand in front of. */
  #follow(at: number, item: Message | Call | Aside): Piece[] {
    this.#add(at, item);
    return this.#thoughts.precede(item instanceof Message ? new TextPlace(item.start) : item, at);
  }

  #openMessage(at: number): { readonly message: Message; readonly pieces: Piece[] } {
    const message = this.#texts.open(at);
    return { message, pieces: this.#follow(at, message) };
  }

  #openCall(at: number, type: 'function' | 'custom', item: Fields): Piece[] {
    const call = new Call(type);
    call.take(item);
    return [
      ...this.#follow(at, call),
      ...this.#begin(call),
      ...this.#calls.say(call, item['arguments'] ?? item['input']),
    ];
  }

  #begin(call: Call): Piece[] {
    return this.#calls.begin(call, () => this.#thoughts.release(call));
  }

  #closeCall(call: Call, text: unknown): Piece[] {
    return this.#calls.close(call, text, () => this.#thoughts.release(call));
  }

  #inMessage(at: number, say: (message: Message) => Piece[]): Piece[] {
    const known = this.#items.get(at);
    if (known instanceof Message) return say(known);
    if (known) return [];
    const { message, pieces } = this.#openMessage(at);
    return [...pieces, ...say(message)];
  }

  #inThoughts(at: number, say: (item: Reasoning) => Piece[]): Piece[] {
    if (!this.#items.has(at)) this.#add(at, this.#thoughts.open(at));
    const known = this.#items.get(at);
    return known instanceof Reasoning ? say(known) : [];
  }

  #inCall(at: number, type: 'function' | 'custom', say: (call: Call) => Piece[]): Piece[] {
    const pieces = this.#items.has(at) ? [] : this.#openCall(at, type, {});
    const known = this.#items.get(at);
    return known instanceof Call ? [...pieces, ...say(known)] : pieces;
  }
}
