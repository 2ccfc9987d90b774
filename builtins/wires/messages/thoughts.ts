import { isPhase } from '../../../host/common/sealed-thoughts.ts';
import { type Fields, isText } from '../../../host/contract/index.ts';
import type { ThoughtNote } from '../history-notes.ts';
import { itemNote } from '../taken-thoughts.ts';
import { isOpenable, openEnvelope, sealEnvelope } from '../envelope.ts';

/** The format of `reasoning_details` whose signatures this wire's own vendor checks. */
export const FORMAT = 'anthropic-claude-v1';

const isThought = ({ type }: Readonly<Fields>): boolean => type === 'thinking' || type === 'redacted_thinking';

/**
 * Whether an item signs a stretch of the answer's own text. It is not written: a block behind the last text hides that text from clients that print
 * the last block, and its vendor asks for the signatures of calls alone. Source: ai.google.dev, "Thought signatures", 2026-11-21.
 */
export const signsText = (item: Readonly<Fields>): boolean => {
  const { id, start, end, thought } = item;
  return !isPhase(item) && !isText(id) && thought !== true && typeof start === 'number' && typeof end === 'number';
};

/** A block that shows no text: what only another vendor reads, in an envelope. Editors do not know `redacted_thinking`. */
export const sealedBlock = (items: readonly Readonly<Fields>[]): Readonly<Fields> => ({
  type: 'thinking',
  thinking: '',
  signature: sealEnvelope(items),
});

/** The envelope of a thought with the text that its block does not show, if any; without the text where that would make it too large to be opened again. */
export function sealThought(hidden: string, items: readonly Readonly<Fields>[]): string {
  if (hidden === '') return sealEnvelope(items);
  const envelope = sealEnvelope([{ type: 'reasoning.text', text: hidden }, ...items]);
  return isOpenable(envelope) ? envelope : sealEnvelope(items);
}

const isHiddenText = ({ type, text, format }: Readonly<Fields>): boolean =>
  type === 'reasoning.text' && isText(text) && format === undefined;

/** The envelope that a block of an assistant turn carries; `undefined` where it is the vendor's own. */
export function envelopeOf(block: Readonly<Fields>): readonly Fields[] | undefined {
  return isThought(block) ? openEnvelope(block['type'] === 'thinking' ? block['signature'] : block['data']) : undefined;
}

/** The reasoning of one assistant turn, as it is put together. See docs/reference/ingress.md#reasoning-of-other-vendors. */
export class Thoughts {
  /** What each block holds that was added. */
  readonly notes: ThoughtNote[] = [];
  readonly #texts: string[] = [];
  readonly #items: Fields[] = [];

  get isEmpty(): boolean {
    return this.#texts.length === 0 && this.#items.length === 0;
  }

  /** `path` is where the block stands. */
  add(block: Readonly<Fields>, path: string): void {
    const [texts, items] = [this.#texts.length, this.#items.length];
    this.#read(block);
    this.notes.push({ path, hasText: this.#texts.length > texts, items: this.#items.slice(items).map(itemNote) });
  }

  #read(block: Readonly<Fields>): void {
    const { type, thinking, signature, data } = block;
    const items = envelopeOf(block);
    const hidden = (items ?? []).filter(isHiddenText).map(({ text }) => text);
    const said = isText(thinking) ? thinking : hidden.join('');
    if (said !== '') this.#texts.push(said);
    if (items) {
      for (const item of items.filter((each) => !isHiddenText(each)))
        this.#items.push({
          ...item,
          ...(said !== '' && item['type'] === 'reasoning.text' && item['text'] === undefined && { text: said }),
        });
    } else if (type === 'thinking')
      this.#items.push({
        type: 'reasoning.text',
        index: this.#items.length,
        format: FORMAT,
        ...(isText(thinking) && { text: thinking }),
        ...(isText(signature) && { signature }),
      });
    else if (isText(data))
      this.#items.push({ type: 'reasoning.encrypted', index: this.#items.length, format: FORMAT, data });
  }

  members(): { readonly reasoning_content?: string; readonly reasoning_details?: readonly Fields[] } {
    return {
      ...(this.#texts.length > 0 && { reasoning_content: this.#texts.join('') }),
      ...(this.#items.length > 0 && { reasoning_details: this.#items.map((item, index) => ({ ...item, index })) }),
    };
  }
}
