import { createHash } from 'node:crypto';
import { isText, memberOf, setMember, type ToolCallDelta } from '../contract/index.ts';
import { type Fields, isFields } from '../contract/json/fields.ts';
import { unusableReply } from '../upstream/fault.ts';
import { MAX_REPLY_BYTES } from '../upstream/limits.ts';

/** Calls of one stream that are kept apart: far more than a model makes, and short of what hurts. */
const MAX_CALLS = 10_000;

/** A call, as far as it has come. */
interface OpenCall {
  /** What clients know it by: `undefined` until it has a name. */
  number: number | undefined;
  /** What the upstream calls it. */
  readonly id: string | undefined;
  name: string;
  /** What came of it ahead of its name. */
  held: ToolCallDelta | undefined;
}

/** The calls of one choice, by what the upstream calls them. */
interface OpenCalls {
  /** How many have a number. */
  count: number;
  readonly all: OpenCall[];
  readonly byId: Map<string, OpenCall>;
  readonly byIndex: Map<number, OpenCall>;
}

export interface CallFacts {
  /** What ids are made of where the upstream gave none. */
  readonly answer?: string | undefined;
  /** Calls of custom tools are calls without a name. */
  readonly functionsOnly?: boolean;
}

/** How the calls of a choice ended. */
export interface CallsAtEnd {
  /** Whether a client knows any. */
  readonly areAny: boolean;
  /** Whether some never got a name. */
  readonly areNameless: boolean;
}

/**
 * Numbers the tool calls of a stream from 0, choice by choice: clients put fragments together by `index`, which upstreams
 * leave out, begin at 1, or use for several calls. A new id opens a call, a fragment without one continues the call of its
 * index, or the one that was opened last; several such fragments in one list continue as many of the last calls, in order.
 * A call is held until its name has come. What is remembered changes only when a call is opened or held: any other fragment
 * may be read any number of times, or not at all.
 */
export class CallNumbers {
  readonly #choices = new Map<number, OpenCalls>();
  readonly #onChange: () => void;
  readonly #facts: CallFacts;
  #opened = 0;
  #heldCharacters = 0;

  /** `onChange` is called for each fragment that changes what is remembered. */
  constructor(onChange: () => void, facts: CallFacts) {
    this.#onChange = onChange;
    this.#facts = facts;
  }

  /** The calls of a delta as they go on, corrected in place, without those that are held; `undefined` where nothing was changed. Throws when there are too many. */
  number(calls: ToolCallDelta[], choice: number): ToolCallDelta[] | undefined {
    let isChanged = false;
    let held: Set<ToolCallDelta> | undefined;
    let back = calls.length > 1 && calls.every(isNameless) ? calls.length : 1;
    for (const call of calls) {
      if (this.#facts.functionsOnly) delete call['custom'];
      const step = this.#take(call, choice, back);
      if (step !== 'same') isChanged = true;
      if (step === 'held') (held ??= new Set()).add(call);
      if (back > 1) back -= 1;
    }
    if (held) return calls.filter((call) => !held.has(call));
    return isChanged ? calls : undefined;
  }

  /** What became of the calls of a choice. */
  endOf(choice: number): CallsAtEnd {
    const { count = 0, all = [] } = this.#choices.get(choice) ?? {};
    return { areAny: count > 0, areNameless: all.length > count };
  }

  #callsOf(choice: number): OpenCalls {
    let open = this.#choices.get(choice);
    if (!open) this.#choices.set(choice, (open = { count: 0, all: [], byId: new Map(), byIndex: new Map() }));
    return open;
  }

  /** `back`: which of the last calls a fragment without a name of its own continues, 1 for the last one. */
  #take(call: ToolCallDelta, choice: number, back: number): 'same' | 'changed' | 'held' {
    const open = this.#callsOf(choice);
    const own = knownCall(call, open, back) ?? this.#open(call, open);
    if (own.number === undefined) return this.#begin(call, own, open, choice);
    const isTidied = dropRepeats(call, own);
    if (call.index === own.number) return isTidied ? 'changed' : 'same';
    call.index = own.number;
    return 'changed';
  }

  #open(call: ToolCallDelta, open: OpenCalls): OpenCall {
    this.#opened += 1;
    if (this.#opened > MAX_CALLS) throw unusableReply(`the answer exceeds the limit of ${MAX_CALLS} tool calls`);
    const own: OpenCall = { number: undefined, id: isText(call.id) ? call.id : undefined, name: '', held: undefined };
    open.all.push(own);
    if (own.id !== undefined) open.byId.set(own.id, own);
    if (typeof call.index === 'number') open.byIndex.set(call.index, own);
    return own;
  }

  /** A call is announced with its name, and with what was held of it. */
  #begin(call: ToolCallDelta, own: OpenCall, open: OpenCalls, choice: number): 'same' | 'changed' | 'held' {
    this.#onChange();
    const { held } = own;
    if (held) addHeld(held, call);
    const name = nameOf(call);
    if (name === '') {
      this.#heldCharacters += call.function?.arguments?.length ?? 0;
      if (this.#heldCharacters > MAX_REPLY_BYTES) throw unusableReply('a tool call without a name has no end');
      own.held ??= { ...call };
      return 'held';
    }
    if (held) for (const [member, value] of Object.entries(held)) setMember(call, member, value);
    own.held = undefined;
    own.name = name;
    own.number = open.count++;
    const isCompleted = completeHead(call, this.#facts.answer, choice, own.number);
    if (call.index === own.number && !held) return isCompleted ? 'changed' : 'same';
    call.index = own.number;
    return 'changed';
  }
}

/** The name of a function, or of a tool of the client's own kind; empty while there is none. */
function nameOf({ function: target, custom }: ToolCallDelta): string {
  const name = isText(target?.name) ? target.name : isFields(custom) ? custom['name'] : undefined;
  return isText(name) ? name : '';
}

/** Adds a fragment to what came of its call before, in place: each costs no more than it holds. */
function addHeld(held: ToolCallDelta, { function: target, ...members }: ToolCallDelta): void {
  for (const [name, value] of Object.entries(members))
    if (value || memberOf(held, name) === undefined) setMember(held, name, value);
  const { arguments: before = '' } = (held.function ??= {});
  for (const [name, value] of Object.entries(target ?? {})) setMember(held.function, name, value);
  held.function.arguments = before + (target?.arguments ?? '');
}

/** The call that a fragment continues; `undefined` when it opens one. */
function knownCall(call: ToolCallDelta, { all, byId, byIndex }: OpenCalls, back: number): OpenCall | undefined {
  const { id, index } = call;
  const isNamed = nameOf(call) !== '';
  const byItsId = isText(id) ? byId.get(id) : undefined;
  if (typeof index === 'number') {
    const byItsIndex = byIndex.get(index);
    if (byItsIndex === undefined) return isNamed ? undefined : byItsId; // two indexes with a name each are two calls, whatever their ids
    if (!isText(id) || byItsIndex.id === id) return byItsIndex;
    // Some servers make up an id for every fragment: only one that names a function opens a call then.
    return byItsId ?? (isNamed ? undefined : byItsIndex);
  }
  if (byItsId !== undefined || isText(id)) return byItsId;
  const last = all.at(-1);
  if (isNamed) return last?.number === undefined ? last : undefined;
  return all.at(-Math.min(back, all.length));
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

/** A call says its id, type and name once: clients that put texts together would repeat them, and an empty or another one would take their place. */
function dropRepeats(call: ToolCallDelta, { name }: OpenCall): boolean {
  let isChanged = false;
  const { function: target } = call;
  if ('id' in call) {
    delete call.id;
    isChanged = true;
  }
  if ('type' in call) {
    delete call.type;
    isChanged = true;
  }
  if (isFields(target) && 'name' in target && (!isText(target.name) || target.name === name)) {
    delete target.name;
    isChanged = true;
  }
  return isChanged;
}
