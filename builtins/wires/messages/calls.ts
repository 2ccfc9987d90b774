import { GatewayError, type ToolCallDelta } from '../../../host/contract/index.ts';
import { isEmptyObject } from '../empty-object.ts';

/** One call of a tool, as its pieces come. */
export interface CallDraft {
  id: string;
  name: string;
  /** Its arguments so far; they wait for the call to be opened. */
  input: string;
  /** One that was closed without arguments is `empty`: its client knows that they are an empty object. */
  state: 'waiting' | 'open' | 'closed' | 'empty';
  readonly shape: ObjectShape;
}

/** Says when the pieces of a JSON object are complete. */
class ObjectShape {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  isComplete = false;

  add(piece: string): void {
    for (let at = 0; at < piece.length; at += 1) this.#character(piece.charCodeAt(at));
  }

  #character(code: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === 0x5c) this.#isEscaped = true;
      else if (code === 0x22) this.#isInString = false;
    } else if (code === 0x22) this.#isInString = true;
    else if (code === 0x7b || code === 0x5b) this.#depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      this.#depth -= 1;
      if (this.#depth === 0) this.isComplete = true;
    }
  }
}

/** The calls of an answer. One is open at a time; pieces of others wait until its arguments are whole. */
export class Calls {
  readonly #byIndex = new Map<number, CallDraft>();
  /** Calls in the order in which they came. */
  readonly #waiting = new Set<CallDraft>();
  open: CallDraft | undefined;
  hasOpened = false;

  /** The call that a piece belongs to, and what of it is not buffered. */
  take(
    { index, id = '', function: called }: ToolCallDelta,
    place: number,
  ): { readonly call: CallDraft; readonly piece: string } {
    const key = index ?? place;
    let call = this.#byIndex.get(key);
    if (!call || (id !== '' && call.id !== '' && id !== call.id)) {
      call = { id, name: '', input: '', state: 'waiting', shape: new ObjectShape() };
      this.#byIndex.set(key, call);
      this.#waiting.add(call);
    }
    if (call.id === '') call.id = id;
    if (call.name === '') call.name = called?.name ?? '';
    return { call, piece: this.#add(call, called?.arguments ?? '') };
  }

  #add(call: CallDraft, piece: string): string {
    if (piece === '') return '';
    if (call.state === 'closed' || call.state === 'empty') {
      if (piece.trim() === '' || (call.state === 'empty' && isEmptyObject(piece))) return '';
      throw new GatewayError('upstream_error', 'arguments came for a tool call that was complete');
    }
    call.shape.add(piece);
    call.input += piece;
    return call.state === 'open' ? piece : '';
  }

  /** The next call that may be opened. */
  next(): CallDraft | undefined {
    if (this.open && !this.open.shape.isComplete) return undefined;
    const [first] = this.#waiting;
    return first && first.name !== '' ? first : undefined;
  }

  /** Whether a call of this id has come and is not written yet. */
  isWaiting(id: string): boolean {
    return this.#waiting.values().some((call) => call.id === id);
  }

  /** Calls that were never opened. */
  waiting(): readonly CallDraft[] {
    return [...this.#waiting];
  }

  /** Opens a call; gives what has been buffered of it. */
  start(call: CallDraft): string {
    this.#waiting.delete(call);
    call.state = 'open';
    this.open = call;
    this.hasOpened = true;
    return call.input;
  }

  /** Closes the open call; gives its arguments. */
  close(): string {
    const { open } = this;
    this.open = undefined;
    if (!open) return '';
    const { input } = open;
    open.input = '';
    open.state = input.trim() === '' ? 'empty' : 'closed';
    return input;
  }
}
