import { createHash } from 'node:crypto';
import type { ToolCallDelta } from 'gw/contract';
import { type Fields, isFields } from 'gw/common-wire';
import { fieldsIn } from '../_common/fields.ts';
import { PartialArguments } from './partial-arguments.ts';
import type { ToolNames } from './tool-names.ts';

/** A call of which everything has come. */
export type WholeCall = ToolCallDelta & { readonly index: number; readonly id: string };

interface OpenCall {
  readonly index: number;
  readonly id: string;
  readonly name: string;
  readonly arguments: PartialArguments;
  readonly signature: string | undefined;
}

export interface ReadCall {
  readonly id: string;
  /** Absent while more of the call is to come. */
  readonly whole?: WholeCall;
}

/** The function calls of one candidate, counted through; one that arrives in pieces is held until its last. */
export class CallReader {
  readonly #answer: string;
  readonly #candidate: number;
  readonly #names: ToolNames;
  #begun = 0;
  #read = 0;
  #open: readonly OpenCall[] = [];

  /** `answer` differs from answer to answer, and is the same for the same one. */
  constructor(answer: string, candidate: number, names: ToolNames) {
    this.#answer = answer;
    this.#candidate = candidate;
    this.#names = names;
  }

  get hasCalls(): boolean {
    return this.#read > 0;
  }

  /** A call begins, and is not over. */
  get isOpen(): boolean {
    return this.#open.length > 0;
  }

  /** `undefined` for what is not a call. Throws on a piece that belongs to none, and on arguments that cannot be read. */
  read(part: unknown, signature: string | undefined): ReadCall | undefined {
    if (!isFields(part)) return undefined;
    const { partialArgs, willContinue } = part;
    const pieces: readonly unknown[] = Array.isArray(partialArgs) ? partialArgs : [];
    const call = typeof part['name'] === 'string' ? this.#begin(part, part['name'], signature) : this.#continued(part);
    if (!call) {
      if (pieces.length > 0 || willContinue === true) throw new Error('a piece of a function call belongs to none');
      return undefined;
    }
    for (const piece of pieces) call.arguments.add(piece);
    this.#open = this.#open.filter((other) => other !== call);
    if (willContinue === true || pieces.some((piece) => isFields(piece) && piece['willContinue'] === true)) {
      this.#open = [...this.#open, call];
      return { id: call.id };
    }
    this.#read += 1;
    return { id: call.id, whole: wholeCall(call) };
  }

  #begin({ id: given, args }: Fields, name: string, signature: string | undefined): OpenCall {
    const index = this.#begun;
    this.#begun += 1;
    const id = typeof given === 'string' && given !== '' ? given : this.#idOf(index);
    return {
      index,
      id,
      name: this.#names.toOwn(name),
      arguments: new PartialArguments(isFields(args) ? args : fieldsIn(typeof args === 'string' ? args : '')),
      signature,
    };
  }

  #continued({ id }: Fields): OpenCall | undefined {
    return this.#open.find((call) => call.id === id) ?? this.#open.at(-1);
  }

  /** For a call without an id of the vendor's. No other call of a conversation has it, and it is the same whenever this answer is read. */
  #idOf(index: number): string {
    return `call_${createHash('sha256').update(`${this.#answer} ${this.#candidate} ${index}`).digest('hex').slice(0, 24)}`;
  }
}

/** The signature stands on the call as the vendor's compatible endpoint has it: clients of that return it there. */
function wholeCall({ index, id, name, arguments: { json }, signature }: OpenCall): WholeCall {
  const extra = signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } };
  return { index, id, type: 'function', function: { name, arguments: json }, ...extra };
}
