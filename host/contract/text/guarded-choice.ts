import { type Fields, isFields } from '../json/fields.ts';
import { setMember } from '../json/members.ts';
import type { ChatChunk, ChunkChoice, ChunkDelta } from '../wire/chat.ts';
import type { TextFilter } from './text-filter.ts';

/**
 * Runs one member of an object, which comes whole, through a filter of its own, in place; false
 * where that ends the stream.
 */
type PassWhole = (holder: unknown, field: string) => boolean;

/**
 * Pieces of one text, said in the same members, with nothing else of the choice between them. Only
 * its end may be held.
 */
interface Stretch {
  /** Which text of the choice it goes on with. */
  readonly text: string;
  /** The members in which its pieces are said. */
  readonly form: string;
  readonly filter: TextFilter;
  /** The object that holds the last piece, and its member there. */
  holder: Fields;
  readonly field: string;
  /** The delta that says the piece a second time, as `reasoning_content`. */
  twin: Fields | undefined;
  /** The chunk that brought the last piece. */
  chunk: ChatChunk;
}

const KNOWN: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'reasoning_content',
  'reasoning_details',
  'tool_calls',
]);

/**
 * The texts of one choice on their way through a guard: each has a filter of its own, and at most
 * the end of the last one is held. Whatever follows in the choice (another text, a call, a
 * signature, the finish) has that end leave first, in the order in which it came.
 */
export class GuardedChoice {
  readonly #index: number;
  readonly #open: () => TextFilter;
  readonly #passWhole: PassWhole;
  readonly #filters = new Map<string, TextFilter>();
  /** By call: its id and name, which some services repeat beside every piece. */
  readonly #heads = new Map<number, string>();
  #stretch: Stretch | undefined;
  /** Whether nothing is left of an item of this delta. */
  #hasHeldItem = false;

  constructor(index: number, open: () => TextFilter, passWhole: PassWhole) {
    this.#index = index;
    this.#open = open;
    this.#passWhole = passWhole;
  }

  /**
   * Guards a choice of a chunk in place; what must leave before the chunk is added to `leaving`.
   * False where the stream ends.
   */
  push({ delta, finish_reason }: ChunkChoice, chunk: ChatChunk, leaving: ChatChunk[]): boolean {
    const goesOn =
      this.#thoughts(delta, chunk, leaving) &&
      this.#member(delta, 'content', chunk, leaving) &&
      this.#member(delta, 'refusal', chunk, leaving) &&
      (!hasOthers(delta) || this.#close(chunk, leaving)) &&
      this.#calls(delta, chunk, leaving) &&
      (!finish_reason || this.#end(chunk, leaving));
    if (this.#hasHeldItem) dropEmptyItems(delta);
    this.#hasHeldItem = false;
    return goesOn;
  }

  /** The stream is complete: what is left of the texts leaves. */
  end(leaving: ChatChunk[]): boolean {
    return this.#end(undefined, leaving);
  }

  #member(
    delta: ChunkDelta,
    field: 'content' | 'refusal' | 'reasoning_content',
    chunk: ChatChunk,
    leaving: ChatChunk[],
  ): boolean {
    const piece = delta[field];
    if (typeof piece !== 'string' || piece === '') return true;
    const text = field === 'reasoning_content' ? 'thoughts' : field;
    return this.#pass(text, field, delta, field, undefined, chunk, leaving);
  }

  /**
   * Thoughts that a delta says twice, as `reasoning_content` and as text of an item, are one piece.
   */
  #thoughts(delta: ChunkDelta, chunk: ChatChunk, leaving: ChatChunk[]): boolean {
    const { reasoning_details: details, reasoning_content: whole } = delta;
    if (!details || details.length === 0) return this.#member(delta, 'reasoning_content', chunk, leaving);
    const isSaid = typeof whole === 'string' && whole !== '';
    let isTwin = false;
    let hasMark = false;
    for (const item of details) {
      if (!isFields(item)) continue;
      let hasText = false;
      for (const field of ['text', 'summary']) {
        const piece = item[field];
        if (typeof piece !== 'string' || piece === '') continue;
        hasText = true;
        const twin = isSaid && !isTwin && piece === whole ? delta : undefined;
        if (twin) isTwin = true;
        const text = isSaid && !twin ? 'details' : 'thoughts';
        const form = `${twin ? 'twice' : 'item'} ${placeOf(item['index'])} ${field}`;
        if (!this.#pass(text, form, item, field, twin, chunk, leaving)) return false;
      }
      if (!hasText || isSealed(item)) hasMark = true;
    }
    if (!isTwin && !this.#member(delta, 'reasoning_content', chunk, leaving)) return false;
    return !hasMark || this.#close(chunk, leaving); // a signature stands behind the thought that it comes with
  }

  #calls(delta: ChunkDelta, chunk: ChatChunk, leaving: ChatChunk[]): boolean {
    for (const [place, call] of (delta.tool_calls ?? []).entries()) {
      const index = call.index ?? place;
      if (this.#isHead(index, call) && !this.#close(chunk, leaving)) return false;
      const pass = this.#passWhole;
      if (!pass(call, 'id') || !pass(call.function, 'name') || !pass(call['custom'], 'name')) return false;
      for (const [member, field] of CALL_TEXTS) {
        const called = call[member];
        if (!isFields(called) || typeof called[field] !== 'string' || called[field] === '') continue;
        const text = `${member} ${index}`;
        if (!this.#pass(text, text, called, field, undefined, chunk, leaving)) return false;
      }
    }
    return true;
  }

  /** Whether a call says its id or name, and not the one that it has said before. */
  #isHead(index: number, { id, function: called, custom }: Fields & { readonly id?: unknown }): boolean {
    const name = nameOf(called) || nameOf(custom);
    const head = `${typeof id === 'string' ? id : ''} ${name}`;
    if (head === ' ' || this.#heads.get(index) === head) return false;
    this.#heads.set(index, head);
    return true;
  }

  /** Runs a piece through the filter of its text, and leaves in its place what may go on. */
  #pass(
    text: string,
    form: string,
    holder: Fields,
    field: string,
    twin: Fields | undefined,
    chunk: ChatChunk,
    leaving: ChatChunk[],
  ): boolean {
    if (this.#stretch && this.#stretch.form !== form && !this.#close(chunk, leaving)) return false;
    let stretch = this.#stretch;
    if (stretch) {
      stretch.holder = holder;
      stretch.twin = twin;
      stretch.chunk = chunk;
    } else {
      this.#stretch = stretch = { text, form, filter: this.#filterOf(text), holder, field, twin, chunk };
    }
    const piece = saidAt(stretch);
    const passed = stretch.filter(piece, false);
    if (passed === undefined) return false;
    if (passed !== piece) write(stretch, passed);
    if (passed === '' && form !== text && field !== 'reasoning_content') this.#hasHeldItem = true;
    return true;
  }

  #filterOf(text: string): TextFilter {
    let filter = this.#filters.get(text);
    if (!filter) this.#filters.set(text, (filter = this.#open()));
    return filter;
  }

  /** Something else follows: what is held of the last stretch leaves before it. */
  #close(chunk: ChatChunk | undefined, leaving: ChatChunk[]): boolean {
    const stretch = this.#stretch;
    if (!stretch) return true;
    this.#stretch = undefined;
    const { filter, text } = stretch;
    const rest = filter.release ? filter.release() : filter('', true);
    if (!filter.release) this.#filters.delete(text);
    return this.#leave(stretch, rest, chunk, leaving);
  }

  /** The texts are over. */
  #end(chunk: ChatChunk | undefined, leaving: ChatChunk[]): boolean {
    const stretch = this.#stretch;
    this.#stretch = undefined;
    for (const [text, filter] of this.#filters) {
      const rest = filter('', true);
      if (rest === undefined) return false;
      if (stretch?.text === text && !this.#leave(stretch, rest, chunk, leaving)) return false;
    }
    this.#filters.clear();
    return true;
  }

  /** In the delta of its last piece, where that has not left yet, else in a chunk of its own. */
  #leave(stretch: Stretch, rest: string | undefined, chunk: ChatChunk | undefined, leaving: ChatChunk[]): boolean {
    if (rest === undefined) return false;
    if (rest === '') return true;
    if (stretch.chunk === chunk) {
      write(stretch, saidAt(stretch) + rest);
      return true;
    }
    const { choices: _choices, usage: _usage, ...head } = stretch.chunk;
    leaving.push({ ...head, choices: [{ index: this.#index, delta: deltaOf(stretch, rest), finish_reason: null }] });
    return true;
  }
}

/** What a model writes for a tool: arguments in JSON, or the text that a custom tool takes. */
const CALL_TEXTS = [
  ['function', 'arguments'],
  ['custom', 'input'],
] as const;

/** A delta that goes on with a text. */
function deltaOf({ text, holder, field, twin }: Stretch, piece: string): ChunkDelta {
  const [member = '', index] = text.split(' ');
  if (index !== undefined) return { tool_calls: [{ index: Number(index), [member]: { [field]: piece } }] };
  if (text !== 'thoughts' && text !== 'details') return { [field]: piece };
  if (field === 'reasoning_content') return { reasoning_content: piece };
  const { signature: _signature, data: _data, text: _text, summary: _summary, ...item } = holder;
  return { ...(twin && { reasoning_content: piece }), reasoning_details: [{ ...item, [field]: piece }] };
}

/** The piece that stands where the stretch has its last one. */
function saidAt({ holder, field }: Stretch): string {
  const piece = holder[field];
  return typeof piece === 'string' ? piece : '';
}

function write({ holder, field, twin }: Stretch, text: string): void {
  setMember<unknown>(holder, field, text);
  if (twin) setMember<unknown>(twin, 'reasoning_content', text);
}

/**
 * Items of which nothing leaves yet are left out: an item without text says something else than a
 * text.
 */
function dropEmptyItems(delta: ChunkDelta): void {
  const left = delta.reasoning_details?.filter((item) => !isFields(item) || isSealed(item) || saysText(item));
  if (left && left.length > 0) delta.reasoning_details = left;
  else delete delta.reasoning_details;
}

const saysText = ({ text, summary }: Fields): boolean => isSaidValue(text) || isSaidValue(summary);

/**
 * Whether an item of `reasoning_details` ends with what is not text: a signature, or sealed data.
 */
const isSealed = ({ signature, data }: Fields): boolean => isSaidValue(signature) || isSaidValue(data);

/** Whether a delta holds anything else than texts, calls and its role. */
function hasOthers(delta: ChunkDelta): boolean {
  for (const name in delta) if (!KNOWN.has(name) && isSaidValue(delta[name])) return true;
  return false;
}

const isSaidValue = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);

const nameOf = (called: unknown): string =>
  isFields(called) && typeof called['name'] === 'string' ? called['name'] : '';

/** Upstreams send anything as an index: what is neither a number nor a text stands for none. */
function placeOf(index: unknown): string {
  return typeof index === 'number' || typeof index === 'string' ? String(index) : '';
}
