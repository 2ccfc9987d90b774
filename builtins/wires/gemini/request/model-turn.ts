import { invalidRequest } from '../../../../host/common/invalid-request.ts';
import { isPhase } from '../../../../host/common/sealed-thoughts.ts';
import {
  type ChatMessage,
  type ContentPart,
  type Fields,
  isText,
  type ToolCall,
} from '../../../../host/contract/index.ts';
import { openEnvelope } from '../../envelope.ts';
import type { ThoughtNote } from '../../history-notes.ts';
import { itemNote } from '../../taken-thoughts.ts';
import { cannotCarry, type Lost, Members } from './members.ts';
import { contentParts, type OpenPart } from './parts.ts';
import { FOREIGN_SIGNATURE, type Place, signatureItem } from './signatures.ts';

const CALL = new Set(['id', 'name', 'args', 'partialArgs', 'willContinue']);

export interface Call {
  readonly id: string;
  readonly name: string;
  /** Whether the client gave the id. */
  readonly isNamed: boolean;
  /** Where it stands in the client's body. */
  readonly at: string;
  readonly args: string;
}

/** One turn of the model as the client returns it, over all its contents: what it said, thought and called. */
export class ModelTurn {
  readonly calls: Call[] = [];
  readonly #lost: Lost;
  readonly #said: ContentPart[] = [];
  readonly #details: Fields[] = [];
  readonly #notes: ThoughtNote[] = [];
  /** Text so far, in UTF-16 code units: places of signatures are counted in them. */
  #text = 0;
  #thoughts = '';
  /** Where the thoughts begin that no signature stands behind yet. */
  #unsigned = 0;
  readonly #secrets = new Set<string>();
  #hasThoughts = false;

  constructor(lost: Lost) {
    this.#lost = lost;
  }

  /** `ownId` is the id of a call to which the client gave none. */
  add(part: OpenPart, ownId: string): void {
    const [thoughts, items] = [this.#thoughts.length, this.#details.length];
    this.#read(part, ownId);
    const found = this.#details.slice(items).map(itemNote);
    const hasText = this.#thoughts.length > thoughts;
    if (hasText || found.length > 0)
      this.#notes.push({
        path: part.isThought ? part.members.path('').slice(0, -1) : part.members.path('thoughtSignature'),
        hasText,
        items: found,
      });
  }

  #read(part: OpenPart, ownId: string): void {
    const place =
      part.kind === 'functionCall'
        ? this.#call(part, ownId)
        : part.isThought
          ? this.#thought(part)
          : this.#speech(part);
    if (part.signature !== undefined) this.#sign(part.signature, place);
  }

  /** `undefined` when nothing of it has a place in the common format. */
  message(): ChatMessage | undefined {
    this.#lost.history.turn(this.#notes, {
      calls: new Set(this.calls.map(({ id }) => id)),
      saysMore: this.calls.length > 0 || this.#said.length > 0,
    });
    if (this.#said.length === 0 && this.calls.length === 0 && this.#thoughts === '' && this.#details.length === 0)
      return undefined;
    return {
      role: 'assistant',
      content: this.#content(),
      ...(this.#thoughts !== '' && { reasoning_content: this.#thoughts }),
      ...(this.#details.length > 0 && { reasoning_details: this.#details }),
      ...(this.calls.length > 0 && { tool_calls: this.calls.map(toToolCall) }),
    };
  }

  #content(): ChatMessage['content'] {
    if (this.#said.length === 0) return this.calls.length > 0 ? null : '';
    return this.#said.every(({ type }) => type === 'text')
      ? this.#said.map((part) => (part.type === 'text' ? part.text : '')).join('')
      : this.#said;
  }

  #call({ members }: OpenPart, ownId: string): Place {
    const at = members.path('functionCall');
    const given = new Members(members.object('functionCall'), CALL, at);
    for (const name of ['partialArgs', 'willContinue'])
      if (given.fields[name]) throw cannotCarry(given.path(name), 'a call must be whole');
    this.#lost.addUnknown(given.fields, CALL, at);
    const name = given.text('name');
    if (!name) throw invalidRequest(`${given.path('name')} is required`);
    const own = given.text('id') || undefined;
    const id = own ?? ownId;
    this.calls.push({ id, name, isNamed: own !== undefined, at, args: JSON.stringify(given.object('args') ?? {}) });
    return { id };
  }

  #thought({ kind, members }: OpenPart): Place {
    if (kind !== undefined && kind !== 'text') throw cannotCarry(members.path(kind), 'a thought is text');
    const start = this.#thoughts.length;
    const text = members.text('text') ?? '';
    this.#thoughts += text;
    if (text !== '') this.#hasThoughts = true;
    return { thought: true, start, end: this.#thoughts.length };
  }

  #speech(part: OpenPart): Place {
    const start = this.#text;
    for (const said of contentParts(part, this.#lost)) {
      this.#said.push(said);
      if (said.type === 'text') this.#text += said.text.length;
    }
    return { start, end: this.#text };
  }

  /** An envelope of ours is opened, another signature keeps its place; what the client wrote for want of one is left out. */
  #sign(signature: string, place: Place): void {
    if (signature === FOREIGN_SIGNATURE) return;
    const items = openEnvelope(signature);
    if (!items) this.#details.push(signatureItem(this.#details.length, place, signature));
    else if ('thought' in place) this.#opened(items, this.#thoughts.slice(this.#unsigned));
    else this.#opened(items, '');
    if ('thought' in place) this.#unsigned = this.#thoughts.length;
  }

  /** `text` is what stands in the parts themselves. One item may stand on its thought and again on a call: it counts once. */
  #opened(items: readonly Fields[], text: string): void {
    for (const given of items) {
      const item = given['type'] === TEXT && !isText(given['text']) && text !== '' ? { ...given, text } : given;
      const secret = secretOf(item);
      if (this.#secrets.has(secret)) continue;
      if (!this.#hasThoughts && isText(item['text'])) this.#thoughts += item['text']; // the client kept the call without the thoughts before it
      if (!isSigned(item)) continue;
      this.#secrets.add(secret);
      this.#details.push({ ...item, index: this.#details.length });
    }
  }
}

const TEXT = 'reasoning.text';

const isSigned = ({ signature, data, format }: Fields): boolean => isText(signature) || isText(data) || isText(format);

/** A key for the secret of an item: equal where items carry one secret of one vendor. One without any is itself the key. */
function secretOf(item: Fields): string {
  const { format, signature, data } = item;
  return JSON.stringify(isPhase(item) ? item : [format, signature, data]);
}

function toToolCall({ id, name, args }: Call): ToolCall {
  return { id, type: 'function', function: { name, arguments: args } };
}
