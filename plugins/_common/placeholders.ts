/** A number at the end of a placeholder is shorter than this. */
const MOST_DIGITS = 9;

/** The values of one kind, by their number from 1 on, and the numbers by their values. */
interface Numbered {
  readonly values: string[];
  readonly numbers: Map<string, number>;
}

/** The placeholders of one request: `[EMAIL_1]`, numbered per kind, the same for equal values. */
export class Placeholders {
  readonly #kinds = new Map<string, Numbered>();

  /** The placeholder of a value. */
  of(kind: string, value: string): string {
    let numbered = this.#kinds.get(kind);
    if (!numbered) this.#kinds.set(kind, (numbered = { values: [], numbers: new Map() }));
    const { values, numbers } = numbered;
    let number = numbers.get(value);
    if (number === undefined) numbers.set(value, (number = values.push(value)));
    return `[${kind}_${number}]`;
  }

  get isEmpty(): boolean {
    return this.#kinds.size === 0;
  }

  /** The text with the values in the places of their placeholders; placeholders that stand for nothing stay. */
  restored(text: string): string {
    return text.replace(
      /\[([A-Z_]+)_([1-9]\d{0,8})\]/g,
      (placeholder, kind: string, number: string) => this.#kinds.get(kind)?.values[Number(number) - 1] ?? placeholder,
    );
  }

  /** From where on a text could end in the beginning of a placeholder. */
  open(text: string): number {
    const begin = text.lastIndexOf('[');
    if (begin < 0) return text.length;
    const rest = text.slice(begin);
    const isBegun = [...this.#kinds.keys()].some((kind) => isBeginning(rest, `[${kind}_`));
    return isBegun ? begin : text.length;
  }
}

function isBeginning(text: string, label: string): boolean {
  if (text.length <= label.length) return label.startsWith(text);
  const digits = text.slice(label.length);
  return text.startsWith(label) && digits.length <= MOST_DIGITS && /^\d+$/.test(digits);
}
