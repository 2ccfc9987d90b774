import { isText, tryParseJson } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';
import type { Piece } from './texts.ts';
import { MAX_WAITING } from './wire.ts';

/** What the vendor's models call what makes several calls at once, though no request declares it. Source: vercel/ai issue 19067, 2026-11-26. */
const WRAPPER = 'parallel';
const RECIPIENT = 'functions.';

/** A call of the answer. */
export class Call {
  readonly kind = 'call';
  readonly type: 'function' | 'custom';
  id = '';
  name = '';
  /** Its number in the common wire; `undefined` while it waits to be written. */
  number: number | undefined;
  /** The id that it is written with. */
  place: Fields | undefined;
  /** Arguments that came before it was written. */
  waiting = '';
  hasArguments = false;
  isOver = false;

  constructor(type: 'function' | 'custom') {
    this.type = type;
  }

  /** What an item says of it. */
  take({ call_id: callId, id, name }: Fields): void {
    this.id ||= [callId, id].find(isText) ?? '';
    this.name ||= isText(name) ? name : '';
  }
}

/** The calls of one answer, numbered as they are written. */
export class Calls {
  readonly #declared: ReadonlySet<unknown>;
  #count = 0;
  #waiting = 0;

  constructor(declared: ReadonlySet<unknown>) {
    this.#declared = declared;
  }

  get count(): number {
    return this.#count;
  }

  /** Writes a call, unless it may be a wrapper or has no name yet; what stands in front of it is written by `before`. */
  begin(call: Call, before: () => Piece[]): Piece[] {
    if (call.number !== undefined || call.name === '' || this.#mayWrap(call)) return [];
    return this.#write(call, before);
  }

  say(call: Call, text: unknown): Piece[] {
    if (!isText(text) || call.isOver) return [];
    call.hasArguments = true;
    if (call.number !== undefined) return [argumentsPiece(call.type, call.number, text)];
    this.#waiting += text.length;
    if (this.#waiting > MAX_WAITING) throw new Error('the arguments of a call have no end');
    call.waiting += text;
    return [];
  }

  /** A call that is over: a wrapper becomes the calls that it holds. */
  close(call: Call, text: unknown, before: () => Piece[]): Piece[] {
    if (call.isOver) return [];
    const pieces = call.hasArguments ? [] : this.say(call, text);
    call.isOver = true;
    if (call.number !== undefined) return pieces;
    return (this.#mayWrap(call) ? this.#unwrapped(call, before) : undefined) ?? this.#write(call, before);
  }

  #mayWrap({ type, name }: Call): boolean {
    return type === 'function' && name === WRAPPER && !this.#declared.has(WRAPPER);
  }

  #write(call: Call, before: () => Piece[]): Piece[] {
    const number = this.#count++;
    call.number = number;
    call.place = { id: call.id };
    const { type, id, name, waiting } = call;
    call.waiting = '';
    return [
      ...before(),
      headPiece(number, id, name, type),
      ...(waiting === '' ? [] : [argumentsPiece(type, number, waiting)]),
    ];
  }

  #unwrapped(call: Call, before: () => Piece[]): Piece[] | undefined {
    const inner = innerCalls(call.waiting, this.#declared);
    if (!inner || inner.length * call.id.length > MAX_WAITING) return undefined; // each of them would repeat the id
    call.number = this.#count;
    call.place = { id: `${call.id}_0` };
    call.waiting = '';
    const pieces = before();
    for (const [at, { name, text }] of inner.entries()) {
      const number = this.#count++;
      pieces.push(headPiece(number, `${call.id}_${at}`, name, 'function'), argumentsPiece('function', number, text));
    }
    return pieces;
  }
}

interface InnerCall {
  readonly name: string;
  readonly text: string;
}

/** The calls of a wrapper; `undefined` for anything that holds others than calls of declared functions. */
function innerCalls(text: string, declared: ReadonlySet<unknown>): readonly InnerCall[] | undefined {
  const value = tryParseJson(text);
  const uses: unknown = isFields(value) ? value['tool_uses'] : undefined;
  if (!Array.isArray(uses) || uses.length === 0) return undefined;
  const calls = uses.map((use: unknown) => innerCall(use, declared)).filter((call) => call !== undefined);
  return calls.length === uses.length ? calls : undefined;
}

function innerCall(use: unknown, declared: ReadonlySet<unknown>): InnerCall | undefined {
  const { recipient_name: recipient, parameters } = isFields(use) ? use : {};
  if (!isText(recipient) || !recipient.startsWith(RECIPIENT) || !isFields(parameters)) return undefined;
  const name = recipient.slice(RECIPIENT.length);
  return declared.has(name) ? { name, text: JSON.stringify(parameters) } : undefined;
}

function headPiece(index: number, id: string, name: string, type: 'function' | 'custom'): Piece {
  const named = type === 'custom' ? { custom: { name, input: '' } } : { function: { name, arguments: '' } };
  return { delta: { tool_calls: [{ index, ...(id !== '' && { id }), type, ...named }] } };
}

function argumentsPiece(type: 'function' | 'custom', index: number, text: string): Piece {
  const piece = type === 'custom' ? { custom: { input: text } } : { function: { arguments: text } };
  return { delta: { tool_calls: [{ index, ...piece }] } };
}
