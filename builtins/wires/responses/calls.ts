import { failedAnswer, type Fields, isFields, isText } from '../../../host/contract/index.ts';
import { isEmptyObject } from '../empty-object.ts';

/** A call of the answer, by its index in the common wire. */
export interface StreamedCall {
  id: string;
  name: string;
  /** What came of its arguments before it was opened. */
  waiting: string;
  /** Arguments that are not blank have come. */
  hasArguments: boolean;
  state: 'waiting' | 'open' | 'closed';
}

/** The calls of one answer. One at a time is written; pieces of others wait. */
export class StreamedCalls {
  readonly #calls = new Map<number, StreamedCall>();
  /** Indices of all calls, in order: those before `#first` wait no longer. */
  readonly #order: number[] = [];
  #first = 0;

  /** The call that a piece belongs to, with its id and name as far as they are known. */
  of(delta: Fields, place: number): StreamedCall {
    const index = typeof delta['index'] === 'number' ? delta['index'] : place;
    const call = this.#calls.get(index) ?? this.#begin(index);
    if (isText(delta['id'])) call.id ||= delta['id'];
    const { function: called } = delta;
    if (isFields(called) && isText(called['name'])) call.name ||= called['name'];
    const text = argumentsOf(delta);
    if (text.trim() === '') return call;
    if (call.state === 'closed' && (call.hasArguments || !isEmptyObject(text)))
      throw failedAnswer('the answer went on with a tool call that it had ended');
    call.hasArguments ||= call.state !== 'closed';
    return call;
  }

  /** The next call to be opened, in the order of their indices. */
  next(): StreamedCall | undefined {
    for (; this.#first < this.#order.length; this.#first += 1) {
      const call = this.#calls.get(this.#order[this.#first] ?? 0);
      if (call?.state === 'waiting') return call;
    }
    return undefined;
  }

  #begin(index: number): StreamedCall {
    const call: StreamedCall = { id: '', name: '', waiting: '', hasArguments: false, state: 'waiting' };
    this.#calls.set(index, call);
    this.#order.splice(Math.max(this.#order.findLastIndex((known) => known < index) + 1, this.#first), 0, index);
    return call;
  }
}

export function argumentsOf({ function: called }: Fields): string {
  const text = isFields(called) ? called['arguments'] : undefined;
  return typeof text === 'string' ? text : '';
}
