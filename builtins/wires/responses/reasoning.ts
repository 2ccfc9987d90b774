import { RESPONSES_FORMAT } from '../../../host/common/sealed-thoughts.ts';
import { type Fields, isFields, isText, setMember } from '../../../host/contract/index.ts';
import { openEnvelope } from '../envelope.ts';
import { isGiven, listAt, objectAt, optionalString, stringAt } from './checks.ts';

export interface ReadReasoning {
  readonly text: string;
  /** Items of `reasoning_details`. */
  readonly details: readonly Fields[];
}

/** The reasoning of an earlier turn, whichever vendor it came from. */
export function readReasoning(item: Fields, path: string): ReadReasoning {
  const said = textOf(item['content'], `${path}.content`) || textOf(item['summary'], `${path}.summary`);
  const sealed = optionalString(item['encrypted_content'], `${path}.encrypted_content`);
  if (sealed === undefined || sealed === '') return { text: said, details: [] };
  const items = openEnvelope(sealed);
  if (!items) return { text: said, details: [{ type: 'reasoning.encrypted', format: RESPONSES_FORMAT, data: sealed }] };
  const [bare, details] = [items.filter(isBare), items.filter((detail) => !isBare(detail))];
  const text = said || [...bare, ...details].map((detail) => (isText(detail['text']) ? detail['text'] : '')).join('');
  return {
    text,
    details: details.map((detail) =>
      isThought(detail) && detail['text'] === undefined ? { ...detail, text } : detail,
    ),
  };
}

/** Text alone, which stands in an envelope because the item shows no summary. */
const isBare = (detail: Fields): boolean =>
  isThought(detail) && detail['signature'] === undefined && detail['format'] === undefined;

const isThought = ({ type }: Fields): boolean => type === 'reasoning.text';

function textOf(value: unknown, path: string): string {
  if (!isGiven(value)) return '';
  return listAt(value, path)
    .map((part, at) => stringAt(objectAt(part, `${path}[${at}]`)['text'], `${path}[${at}].text`))
    .join('\n\n');
}

/** Whether thoughts are to be shown. Every word asks for that; one name of the member is that of earlier versions. */
export const asksForSummary = (reasoning: unknown): boolean =>
  isFields(reasoning) && (isGiven(reasoning['summary']) || isGiven(reasoning['generate_summary']));

/** One stretch of reasoning while it is answered: its text, and what must come back with the next turn. */
export class Stretch {
  text = '';
  /** Items by their `index`, in the order of their first piece. */
  readonly #items: Fields[] = [];
  /** Items by type and `index`, as far as they have one. */
  readonly #known = new Map<unknown, Map<unknown, Fields>>();
  /** What the thoughts among them have for an `index`. */
  readonly #thoughts = new Set<unknown>();

  get isEmpty(): boolean {
    return this.text === '' && this.#items.length === 0;
  }

  /** Whether an item is a thought other than those of this stretch: then it begins another one. */
  isOther(detail: Fields): boolean {
    return isThought(detail) && this.#thoughts.size > 0 && !this.#thoughts.has(detail['index']);
  }

  /** Adds an item, or a piece of one: texts and signatures of equal `index` belong together. */
  add(detail: Fields): void {
    const known = this.#known.get(detail['type'])?.get(detail['index']);
    if (!known) {
      this.#keep({ ...detail });
      return;
    }
    for (const [name, value] of Object.entries(detail)) {
      const before = known[name];
      if (name === 'text' && isText(before) && isText(value)) known['text'] = before + value;
      else if (value !== undefined && value !== null && value !== '') setMember(known, name, value);
    }
  }

  /** Takes over the items of another stretch. */
  take(other: Stretch): void {
    for (const item of other.#items) this.#keep(item);
  }

  #keep(item: Fields): void {
    const { type, index } = item;
    this.#items.push(item);
    if (isThought(item)) this.#thoughts.add(index);
    if (index === undefined) return;
    let ofType = this.#known.get(type);
    if (!ofType) this.#known.set(type, (ofType = new Map()));
    if (!ofType.has(index)) ofType.set(index, item);
  }

  /** What goes into the envelope; text that stands in the item itself is left out. */
  sealed(isShown: boolean): readonly Fields[] {
    const items = this.#items.map((item) => (isShown ? withoutText(item) : item));
    const hasText = this.#items.some((item) => isText(item['text']));
    return isShown || this.text === '' || hasText ? items : [{ type: 'reasoning.text', text: this.text }, ...items];
  }
}

function withoutText(item: Fields): Fields {
  const { text: _text, ...rest } = item;
  return rest;
}

/** The items that an answer brings, for a list that may hold anything. */
export const detailsOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);
