import { createHash } from 'node:crypto';
import { isText, type ToolCallDelta } from '../contract/index.ts';
import { type Fields, isFields } from '../contract/json/fields.ts';
import { unusableReply } from '../upstream/fault.ts';

/** Calls of one stream that are kept apart: far more than a model makes, and short of what hurts. */
const MAX_CALLS = 10_000;

/** The calls of one choice, by what the upstream calls them. */
interface OpenCalls {
  count: number;
  /** Their ids, by number. */
  readonly ids: (string | undefined)[];
  readonly byId: Map<string, number>;
  readonly byIndex: Map<number, number>;
}

/**
 * Numbers the tool calls of a stream from 0, choice by choice: clients put fragments together by `index`, which upstreams
 * leave out, begin at 1, or use for several calls. A new id opens a call, a fragment without one continues the call of its
 * index, or the one that was opened last; several such fragments in one list continue as many of the last calls, in order.
 * What is remembered changes only when a call is opened: a fragment that continues one may be read any number of times, or
 * not at all.
 */
export class CallNumbers {
  readonly #choices = new Map<number, OpenCalls>();
  readonly #onOpen: () => void;
  readonly #answer: string | undefined;
  #opened = 0;

  /** `onOpen` is called for each call that begins. `answer` is what ids are made of where the upstream gave none. */
  constructor(onOpen: () => void, answer?: string) {
    this.#onOpen = onOpen;
    this.#answer = answer;
  }

  /** Corrects the calls of a delta in place. True on any change. Throws when there are too many. */
  number(calls: readonly ToolCallDelta[], choice: number): boolean {
    let isChanged = false;
    let back = calls.length > 1 && calls.every(isNameless) ? calls.length : 1;
    for (const call of calls) {
      if (this.#number(call, choice, back)) isChanged = true;
      if (back > 1) back -= 1;
    }
    return isChanged;
  }

  #callsOf(choice: number): OpenCalls {
    let open = this.#choices.get(choice);
    if (!open) this.#choices.set(choice, (open = { count: 0, ids: [], byId: new Map(), byIndex: new Map() }));
    return open;
  }

  /** `back`: which of the last calls a fragment without a name of its own continues, 1 for the last one. */
  #number(call: ToolCallDelta, choice: number, back: number): boolean {
    const open = this.#callsOf(choice);
    const known = knownCall(call, open, back);
    const number = known ?? this.#open(call, open);
    const isTidied = known === undefined ? completeHead(call, this.#answer, choice, number) : dropRepeats(call, open);
    if (call.index === number) return isTidied;
    call.index = number;
    return true;
  }

  #open(call: ToolCallDelta, open: OpenCalls): number {
    this.#opened += 1;
    if (this.#opened > MAX_CALLS) throw unusableReply(`the answer exceeds the limit of ${MAX_CALLS} tool calls`);
    const number = open.count++;
    open.ids.push(isText(call.id) ? call.id : undefined);
    if (isText(call.id)) open.byId.set(call.id, number);
    if (typeof call.index === 'number') open.byIndex.set(call.index, number);
    this.#onOpen();
    return number;
  }
}

/** The number of the call that a fragment continues; `undefined` when it opens one. */
function knownCall(
  { id, index, function: target }: ToolCallDelta,
  { count, ids, byId, byIndex }: OpenCalls,
  back: number,
): number | undefined {
  const isNamed = isText(target?.name);
  const byItsId = isText(id) ? byId.get(id) : undefined;
  if (typeof index === 'number') {
    const byItsIndex = byIndex.get(index);
    if (byItsIndex === undefined) return isNamed ? undefined : byItsId; // two indexes with a name each are two calls, whatever their ids
    if (!isText(id) || ids[byItsIndex] === id) return byItsIndex;
    // Some servers make up an id for every fragment: only one that names a function opens a call then.
    return byItsId ?? (isNamed ? undefined : byItsIndex);
  }
  if (byItsId !== undefined || isText(id)) return byItsId;
  return count === 0 || isNamed ? undefined : count - Math.min(back, count);
}

/** Whether nothing in a fragment says which call it is of, and it opens none. */
const isNameless = ({ id, index, function: target }: ToolCallDelta): boolean =>
  !isText(id) && typeof index !== 'number' && !isText(target?.name);

/**
 * What a call begins with says its type and id: a client's result names the call by it. Some upstreams leave the id out or empty, or
 * send a number. True on any change.
 */
export function completeHead(call: Fields, answer: string | undefined, choice: number, number: number): boolean {
  const hasType = isText(call['type']);
  const hasId = isText(call['id']) || answer === undefined;
  if (!hasType) call['type'] = 'function';
  if (!hasId)
    call['id'] = `call_${createHash('sha256').update(`${answer} ${choice} ${number}`).digest('hex').slice(0, 24)}`;
  return !hasType || !hasId;
}

/** Continuing a call, an empty id, type or name would overwrite the one it has, and so would an id that is new. */
function dropRepeats(call: ToolCallDelta, { byId }: OpenCalls): boolean {
  let isChanged = false;
  const drop = (holder: Record<string, unknown>, name: string): void => {
    delete holder[name];
    isChanged = true;
  };
  if ('id' in call && !(isText(call.id) && byId.has(call.id))) drop(call, 'id');
  if ('type' in call && !isText(call.type)) drop(call, 'type');
  if (isFields(call.function) && 'name' in call.function && !isText(call.function.name)) drop(call.function, 'name');
  return isChanged;
}
