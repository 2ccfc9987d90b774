import { type Fields, isText, type ToolCallDelta } from '../../../../host/contract/index.ts';
import type { AnswerFacts } from './answer.ts';
import { argumentsIn, brokenCall, CallIds, signatureBeside } from './calls.ts';

/** What other vendors sign, for a call by its id; `undefined` where there is nothing. */
export type CallSecret = (id: string | undefined, isFirst: boolean) => string | undefined;

interface OpenCall {
  id: string | undefined;
  name: string;
  signature: string | undefined;
  /** Pieces of the arguments. */
  readonly pieces: string[];
}

/** The function calls of one candidate: each is held until its arguments are complete, and they leave in the order in which they began. */
export class CallWriter {
  readonly #open = new Map<number, OpenCall>();
  readonly #written = new Set<number>();
  /** Signatures by the ids of their calls: there are services that send one before its call begins. */
  readonly #signed = new Map<string, string>();
  readonly #ids = new CallIds();
  readonly #ownName: AnswerFacts['ownName'];

  constructor(ownName: AnswerFacts['ownName']) {
    this.#ownName = ownName;
  }

  get hasCalls(): boolean {
    return this.#written.size > 0 || this.#open.size > 0;
  }

  sign(signatures: ReadonlyMap<string, string>): void {
    for (const [id, signature] of signatures) this.#signed.set(id, signature);
  }

  /** The calls that are complete now that others have begun; of several in one chunk the last may be among them. */
  write(deltas: readonly ToolCallDelta[], secret: CallSecret): Fields[] {
    const begun = deltas
      .map((delta, place) => this.#take(delta, delta.index ?? place))
      .filter((index) => index !== undefined);
    const growing = begun.length === 1 ? begun[0] : undefined;
    return begun.length === 0 ? [] : this.#release((index, text) => index !== growing && text.trim() !== '', secret);
  }

  /** All that are left. Throws for arguments that are not an object. */
  end(secret: CallSecret): Fields[] {
    const parts = this.#release(() => true, secret);
    if (this.#open.size > 0) throw brokenCall();
    return parts;
  }

  /** The place of a call that begins; `undefined` for a later piece of one. */
  #take(delta: ToolCallDelta, index: number): number | undefined {
    const { id, function: called } = delta;
    const known = this.#open.get(index);
    const call = known ?? { id: undefined, name: '', signature: undefined, pieces: [] };
    if (this.#written.has(index)) {
      if (isText(called?.arguments)) throw brokenCall(); // the call it belongs to has left
      return undefined;
    }
    if (isText(id)) call.id = id;
    if (isText(called?.name)) call.name = called.name;
    if (isText(called?.arguments)) call.pieces.push(called.arguments);
    call.signature = signatureBeside(delta) ?? call.signature;
    if (known) return undefined;
    this.#open.set(index, call);
    return index;
  }

  /** Calls from the front, up to one that is not complete or not ready. */
  #release(isReady: (index: number, text: string) => boolean, secret: CallSecret): Fields[] {
    const parts: Fields[] = [];
    for (const [index, { id, name, signature, pieces }] of this.#open) {
      const text = pieces.join('');
      const args = isReady(index, text) ? argumentsIn(text) : undefined;
      if (!args) break;
      const own = this.#signed.get(id ?? '') ?? signature ?? secret(id, this.#written.size === 0);
      this.#open.delete(index);
      this.#written.add(index);
      parts.push({
        functionCall: { ...this.#ids.memberOf(id, index), name: this.#ownName(name), args },
        ...(own !== undefined && { thoughtSignature: own }),
      });
    }
    return parts;
  }
}
