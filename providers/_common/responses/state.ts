import { type CallInfo, type ChatMessage, isText } from 'gw/contract';
import { addAll, type Fields, isFields } from '../fields.ts';
import { BLANK_LINE, FORMAT } from './wire.ts';

/** A stretch of the text that its vendor marked. */
interface Phase {
  readonly start: number;
  readonly end: number;
  readonly phase: string;
}

/** What an assistant turn brings back of the answer that it was. */
export interface Carried {
  /** Items of thoughts in front of everything else. */
  readonly first: readonly Fields[];
  /** Items of thoughts in front of a call, by its id. */
  readonly ofCalls: Map<string, readonly Fields[]>;
  /** Items of thoughts in front of a text, by where it begins in the joined text. */
  readonly ofTexts: ReadonlyMap<number, readonly Fields[]>;
  /** In the order of the text. */
  readonly phases: readonly Phase[];
}

const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

/**
 * The state of an earlier turn, as far as the model takes it. Items of other vendors and of other providers stay behind: only
 * they can read them. See docs/providers.md#chats-by-the-responses-api.
 */
export function carriedState({ reasoning_details: details }: ChatMessage, call: CallInfo): Carried {
  const { facts, provider, leavesThoughts } = call;
  const takesSealed = facts?.thoughts_back === 'sealed' && leavesThoughts !== true;
  const first: Fields[] = [];
  const ofCalls = new Map<string, Fields[]>();
  const ofTexts = new Map<number, Fields[]>();
  const phases: Phase[] = [];
  for (const item of Array.isArray(details) ? details : []) {
    if (!isFields(item) || item['format'] !== FORMAT) continue;
    const { type, data, id, start, end, phase, origin } = item;
    if (type === 'reasoning.phase' && facts?.phases === true && isPlace(start) && isPlace(end) && isText(phase))
      phases.push({ start, end, phase });
    const isOwn = origin === undefined || origin === null || origin === provider;
    if (type !== 'reasoning.encrypted' || !takesSealed || !isOwn || !isText(data)) continue;
    const sealed = { type: 'reasoning', summary: [], encrypted_content: data };
    if (isText(id)) keep(ofCalls, id, sealed);
    else if (isPlace(start)) keep(ofTexts, start, sealed);
    else first.push(sealed);
  }
  return { first, ofCalls, ofTexts, phases: phases.toSorted((a, b) => a.start - b.start) };
}

function keep<K>(lists: Map<K, Fields[]>, key: K, item: Fields): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** The text of an assistant turn as the messages that it was, each behind its thoughts. */
export function textItems(text: string, { ofTexts, phases }: Carried): Fields[] {
  const starts = new Map<number, Fields[]>();
  for (const [start, sealed] of ofTexts) {
    const at = placeIn(text, start);
    for (const item of sealed) keep(starts, at, item);
  }
  const cuts = new Set([0, ...starts.keys()]);
  for (const { start, end } of phases) cuts.add(placeIn(text, start)).add(placeIn(text, end));
  const places = [...cuts].toSorted((a, b) => a - b);
  const items: Fields[] = [];
  let passed = 0;
  for (const [at, place] of places.entries()) {
    addAll(items, starts.get(place) ?? []);
    const piece = cutOut(text, place, places[at + 1] ?? text.length);
    if (piece === '') continue;
    while ((phases[passed + 1]?.start ?? Infinity) <= place) passed += 1;
    items.push({ role: 'assistant', content: piece, ...phaseAt(phases[passed], place) });
  }
  return items;
}

const phaseAt = (phase: Phase | undefined, place: number): Fields =>
  phase && phase.start <= place && place < phase.end ? { phase: phase.phase } : {};

/** A place in the text, never in the middle of a character. */
function placeIn(text: string, place: number): number {
  if (place >= text.length) return text.length;
  return /[\uDC00-\uDFFF]/.test(text.charAt(place)) && /[\uD800-\uDBFF]/.test(text.charAt(place - 1))
    ? place - 1
    : place;
}

/** A piece of the text, without the blank line that joined it to its neighbours. */
function cutOut(text: string, start: number, end: number): string {
  const piece = text.slice(start, end);
  const from = start > 0 && piece.startsWith(BLANK_LINE) ? BLANK_LINE.length : 0;
  return end < text.length && piece.length > from && piece.endsWith(BLANK_LINE)
    ? piece.slice(from, -BLANK_LINE.length)
    : piece.slice(from);
}
