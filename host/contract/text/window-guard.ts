import { isFields, isLabel } from '../json/fields.ts';
import { setMember } from '../json/members.ts';
import type { StreamGuard } from '../plugin.ts';
import { reject, type Rejection } from '../verdict.ts';
import type { ChatChunk, ChunkDelta } from '../wire/chat.ts';

/** What a scan says of a text that may still grow: a match, or how many characters at its end could become part of one. */
export interface Scan {
  /** True where the text holds what must not be delivered. */
  readonly isMatch: boolean;
  /** Characters at the end of the text that could be the beginning of a match: they are held back. */
  readonly keep: number;
}

/**
 * One text of a stream on its way: takes the next piece, and gives back what may go on now; with `isLast` the rest. `undefined`
 * ends the stream.
 */
export type TextFilter = (piece: string, isLast: boolean) => string | undefined;

interface Held {
  readonly filter: TextFilter;
  toDelta: (text: string) => ChunkDelta;
}

/** Takes the next piece of one text; gives back what of it may go on, `undefined` where that ends the stream. */
type Pass = (key: string, choice: number, piece: string, toDelta: Held['toDelta']) => string | undefined;

/** Runs one member of an object, which comes whole, through a filter of its own, in place; false where that ends the stream. */
type PassWhole = (holder: unknown, field: string) => boolean;

/**
 * A stream guard that lets text flow but holds back what could be the beginning of a match, so that no part of one is
 * delivered; content, refusal, reasoning and tool-call arguments each by themselves. `scan` sees the held text and what
 * came after it. A match ends the stream with `reason`.
 *
 * @param scan says whether the text holds a match, and how many characters at its end might begin one.
 * @param reason what the client reads; never the text that was found.
 * @example
 * ```ts
 * import Joi from 'joi';
 * import { definePlugin, reject, texts, windowGuard } from 'gw/contract';
 *
 * const WORD = 'xyzzy';
 *
 * export default definePlugin({
 *   name: 'no-magic',
 *   type: 'guardrail',
 *   summary: 'Delivers no magic word',
 *   stages: ['after_request'],
 *   settings: Joi.object({ stream: Joi.string().valid('window').default('window') }),
 *   create: () => ({
 *     // The whole answer.
 *     after_request: (exchange) => (texts(exchange).some((text) => text.includes(WORD)) ? reject('a magic word') : undefined),
 *     // A stream: what could be the beginning of the word waits for what follows.
 *     stream: () => windowGuard((text) => ({ isMatch: text.includes(WORD), keep: WORD.length - 1 }), 'a magic word'),
 *   }),
 * });
 * ```
 */
export function windowGuard(scan: (text: string) => Scan, reason: string): StreamGuard {
  return guardWith(() => windowFilter(scan), reason, false);
}

function windowFilter(scan: (text: string) => Scan): TextFilter {
  let held = '';
  return (piece, isLast) => {
    if (isLast) return held;
    const text = held + piece;
    const { isMatch, keep } = scan(text);
    if (isMatch) return undefined;
    const cut = cutBefore(text, text.length - Math.min(keep, text.length));
    held = text.slice(cut);
    return text.slice(0, cut);
  };
}

/** A stream guard that runs each text through a filter of its own: content, refusal, reasoning, tool-call arguments, and whole the names of called tools. */
export function filterGuard(open: () => TextFilter, reason: string): StreamGuard {
  return guardWith(open, reason, true);
}

function guardWith(open: () => TextFilter, reason: string, readsNames: boolean): StreamGuard {
  /** By choice, then by which text of it. */
  const held = new Map<number, Map<string, Held>>();
  let head: ChatChunk = { choices: [] };

  const pass: Pass = (key, choice, piece, toDelta) => {
    let texts = held.get(choice);
    if (!texts) held.set(choice, (texts = new Map()));
    let text = texts.get(key);
    if (text) text.toDelta = toDelta;
    else texts.set(key, (text = { filter: open(), toDelta }));
    return text.filter(piece, false);
  };

  const passWhole: PassWhole = (holder, field) => {
    const text = isFields(holder) ? holder[field] : undefined;
    if (!isFields(holder) || typeof text !== 'string' || (field === 'name' ? !readsNames : isLabel(text))) return true;
    const filter = open();
    const [begin, rest] = [filter(text, false), filter('', true)];
    if (begin === undefined || rest === undefined) return false;
    if (begin + rest !== text) setMember<unknown>(holder, field, begin + rest);
    return true;
  };

  /** The rest of a choice's texts; `undefined` where one of them ends the stream. */
  const release = (index: number): ChatChunk[] | undefined => {
    const out: ChatChunk[] = [];
    for (const { filter, toDelta } of held.get(index)?.values() ?? []) {
      const text = filter('', true);
      if (text === undefined) return undefined;
      if (text !== '') out.push({ ...head, choices: [{ index, delta: toDelta(text), finish_reason: null }] });
    }
    held.delete(index);
    return out;
  };

  const push = (chunk: ChatChunk): readonly ChatChunk[] | Rejection => {
    if (chunk.id !== head.id && !passWhole(chunk, 'id')) return reject(reason);
    const { usage: _usage, choices: _choices, ...rest } = chunk;
    head = { ...rest, choices: [] };
    const released: ChatChunk[] = [];
    for (const choice of chunk.choices) {
      const { index, delta, finish_reason } = choice;
      delete choice.logprobs; // they repeat the text
      if (!guardDelta(delta, index, pass, passWhole) || !passWhole(choice, 'finish_reason')) return reject(reason);
      const late = finish_reason ? release(index) : [];
      if (!late) return reject(reason);
      for (const each of late) released.push(each);
    }
    return [...withoutFinish(chunk, released), chunk];
  };

  const end = (): readonly ChatChunk[] | Rejection => {
    const rest: ChatChunk[] = [];
    for (const index of held.keys().toArray()) {
      const late = release(index);
      if (!late) return reject(reason);
      for (const each of late) rest.push(each);
    }
    return rest;
  };

  return { push, end };
}

/** Runs every text of a delta through the window, in place; false on a match. */
function guardDelta(delta: ChunkDelta, choice: number, pass: Pass, passWhole: PassWhole): boolean {
  return (
    guardTexts(delta, choice, pass) && guardDetails(delta, choice, pass) && guardCalls(delta, choice, pass, passWhole)
  );
}

function guardTexts(delta: ChunkDelta, choice: number, pass: Pass): boolean {
  for (const field of ['content', 'reasoning_content', 'refusal'] as const) {
    const piece = delta[field];
    if (typeof piece !== 'string' || piece === '') continue;
    const passed = pass(field, choice, piece, (text) => ({ [field]: text }));
    if (passed === undefined) return false;
    setMember<unknown>(delta, field, passed);
  }
  return true;
}

/** Texts of `reasoning_details`; signatures and sealed data are left out. */
function guardDetails(delta: ChunkDelta, choice: number, pass: Pass): boolean {
  for (const item of delta.reasoning_details ?? []) {
    if (typeof item !== 'object' || item === null) continue;
    const detail = item as Record<string, unknown>;
    for (const field of ['text', 'summary']) {
      const piece = detail[field];
      if (typeof piece !== 'string' || piece === '') continue;
      const { [field]: _piece, signature: _signature, ...rest } = detail;
      const passed = pass(`detail ${placeOf(detail['index'])} ${field}`, choice, piece, (text) => ({
        reasoning_details: [{ ...rest, [field]: text }],
      }));
      if (passed === undefined) return false;
      setMember(detail, field, passed);
    }
  }
  return true;
}

/** Upstreams send anything as an index: what is neither a number nor a text stands for none. */
function placeOf(index: unknown): string {
  return typeof index === 'number' || typeof index === 'string' ? String(index) : '';
}

function guardCalls(delta: ChunkDelta, choice: number, pass: Pass, passWhole: PassWhole): boolean {
  for (const [place, call] of (delta.tool_calls ?? []).entries()) {
    const index = call.index ?? place;
    if (!passWhole(call, 'id') || !passWhole(call.function, 'name') || !passWhole(call['custom'], 'name')) return false;
    for (const [member, field] of CALL_TEXTS) {
      const called = call[member];
      const piece = isFields(called) ? called[field] : undefined;
      if (!isFields(called) || typeof piece !== 'string' || piece === '') continue;
      const passed = pass(`${member} ${index}`, choice, piece, (text) => ({
        tool_calls: [{ index, [member]: { [field]: text } }],
      }));
      if (passed === undefined) return false;
      setMember<unknown>(called, field, passed);
    }
  }
  return true;
}

/** What a model writes for a tool: arguments in JSON, or the text that a custom tool takes. */
const CALL_TEXTS = [
  ['function', 'arguments'],
  ['custom', 'input'],
] as const;

/** Released text goes in front of the finish; text that shares the finishing chunk goes in front of that text's rest. */
function withoutFinish(chunk: ChatChunk, released: readonly ChatChunk[]): ChatChunk[] {
  if (released.length === 0) return [];
  const lead = chunk.choices
    .filter(({ delta }) => Object.keys(delta).length > 0)
    .map(({ index, delta }) => ({ index, delta: { ...delta }, finish_reason: null }));
  for (const choice of chunk.choices) choice.delta = {};
  const { usage: _usage, ...head } = chunk;
  return [...(lead.length > 0 ? [{ ...head, choices: lead }] : []), ...released];
}

/** Never between the halves of a surrogate pair. */
function cutBefore(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
