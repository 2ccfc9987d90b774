/** A number at the end of a placeholder is shorter than this. */
const MOST_DIGITS = 9;

/** The placeholders of one request: `[EMAIL_1]`, numbered per kind, the same for equal values. */
export class Placeholders {
  readonly #byValue = new Map<string, string>();
  readonly #values = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** The placeholder of a value. */
  of(kind: string, value: string): string {
    const key = `${kind} ${value}`;
    const known = this.#byValue.get(key);
    if (known !== undefined) return known;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const placeholder = `[${kind}_${count}]`;
    this.#byValue.set(key, placeholder);
    this.#values.set(placeholder, value);
    return placeholder;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** The text with the values in the places of their placeholders; placeholders that stand for nothing stay. */
  restored(text: string): string {
    return text.replace(/\[[A-Z_]+_\d{1,9}\]/g, (placeholder) => this.#values.get(placeholder) ?? placeholder);
  }

  /** From where on a text could end in the beginning of a placeholder. */
  open(text: string): number {
    const begin = text.lastIndexOf('[');
    if (begin < 0) return text.length;
    const rest = text.slice(begin);
    const isBegun = [...this.#counts.keys()].some((kind) => isBeginning(rest, `[${kind}_`));
    return isBegun ? begin : text.length;
  }
}

function isBeginning(text: string, label: string): boolean {
  if (text.length <= label.length) return label.startsWith(text);
  const digits = text.slice(label.length);
  return text.startsWith(label) && digits.length <= MOST_DIGITS && /^\d+$/.test(digits);
}
