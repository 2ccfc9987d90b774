import { createHash, type Hash, hash } from 'node:crypto';
import { isFields } from '../../../host/contract/index.ts';

/** How a conversation begins: what stays the same from turn to turn. */
export interface Opening {
  /** Texts of the system and of developers that stand before the first user turn. */
  readonly instructions: Iterable<unknown>;
  readonly tools: readonly unknown[];
  /** The content of the first user turn: a text, or parts. */
  readonly user: unknown;
}

/** Bytes of an opening that are looked at. */
const MAX_BYTES = 64 * 1024;

/** Texts of a part that are longer stand there by their digest, made of so much of them as is looked at, and their length. */
const LONG_TEXT = 1024;
const MOST_PARTS = 1024;
const MOST_DEPTH = 4;

/** Stands for a conversation by the way it begins; 64 hexadecimal digits. `undefined` without a user turn. */
export function fingerprint(model: string, opening: Opening | undefined): string | undefined {
  if (!opening) return undefined;
  const sum = new BoundedHash();
  sum.add('model', model);
  for (const content of opening.instructions) addContent(sum, 'instructions', content);
  for (const tool of opening.tools) {
    if (sum.isFull) break;
    addTool(sum, tool);
  }
  addContent(sum, 'user', opening.user);
  return sum.digest();
}

/** A digest of the first bytes of what is added to it. */
class BoundedHash {
  readonly #hash: Hash = createHash('sha256');
  #left = MAX_BYTES;

  get isFull(): boolean {
    return this.#left === 0;
  }

  add(kind: string, text: string): void {
    if (this.#left === 0) return;
    const bytes = Buffer.from(`\0${kind}\0${text.slice(0, this.#left)}`, 'utf8');
    const taken = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#hash.update(taken);
    this.#left -= taken.length;
  }

  digest(): string {
    return this.#hash.digest('hex');
  }
}

/** Name and schema, wherever the wire has them. */
function addTool(sum: BoundedHash, tool: unknown): void {
  if (!isFields(tool)) return;
  const { function: inner, type } = tool;
  const { name, parameters } = isFields(inner) ? inner : tool;
  sum.add('tool', typeof name === 'string' ? name : String(type));
  if (isFields(parameters)) sum.add('schema', JSON.stringify(parameters));
}

function addContent(sum: BoundedHash, kind: string, content: unknown): void {
  if (typeof content === 'string') sum.add(kind, content);
  else if (Array.isArray(content)) for (const part of content.slice(0, MOST_PARTS)) addPart(sum, kind, part);
}

function addPart(sum: BoundedHash, kind: string, part: unknown): void {
  if (!isFields(part) || sum.isFull) return;
  const { text, type } = part;
  if (typeof text === 'string') sum.add(kind, text);
  else addTexts(sum, `${kind} ${String(type)}`, part, MOST_DEPTH);
}

/** The texts in an image or a file, short ones as they are. */
function addTexts(sum: BoundedHash, kind: string, value: unknown, depth: number): void {
  if (typeof value === 'string')
    sum.add(
      kind,
      value.length <= LONG_TEXT ? value : `${value.length} ${hash('sha256', value.slice(0, MAX_BYTES), 'hex')}`,
    );
  else if (isFields(value) && depth > 0 && !sum.isFull)
    for (const each of Object.values(value)) addTexts(sum, kind, each, depth - 1);
}
