import { type Form, formsOf, percentDecoded } from './forms.ts';
import { MIN_NEEDLE, Needles } from './needles.ts';
import { latinOf, unescaped, withoutEscapes } from './unescaped.ts';

interface KnownForm extends Form {
  readonly marker: string;
}

interface Found {
  readonly start: number;
  readonly end: number;
  readonly marker: string;
}

/** A text that is searched, and where each of its characters begins in the text that is shown, with the end of that as the last. */
interface Searched {
  readonly text: string;
  readonly placeOf: (at: number) => number;
  /** What a form may look like in it. */
  readonly needlesOf: (form: string) => Iterable<string>;
}

/** One character of base64 or base64url. */
const BASE64 = /[\w+/-]/;

/**
 * The values that are hidden wherever they stand, whatever is around them. They may be of any length and number: texts are searched for
 * them, because a regular expression of them all would be larger than one can be.
 */
export class KnownValues {
  /** Length of the longest value, in any form, with every character escaped. */
  longest = 0;
  readonly #values = new Set<string>();
  readonly #forms = new Map<string, KnownForm>();
  readonly #needles = new Needles();
  /** What each form may look like among the bytes of a text. */
  readonly #bytes = new Map<string, readonly string[]>();

  add(value: string, marker: string): void {
    if (value.length < MIN_NEEDLE || /\s/.test(value) || /^\$\{.*\}$/.test(value)) return;
    if (this.#values.has(value)) return; // a reload brings the same values again
    this.#values.add(value);
    for (const form of formsOf(value)) {
      const { text } = form;
      if (this.#forms.has(text)) continue;
      this.#forms.set(text, { ...form, marker });
      this.#needles.add(text);
      const plain = percentDecoded(text); // of a value that holds percent signs of its own
      if (plain !== text && plain.length >= MIN_NEEDLE) this.#needles.add(plain);
      this.longest = Math.max(this.longest, 6 * text.length);
    }
  }

  hide(text: string): string {
    let clean = text;
    const open = clean.includes('\\') ? withoutEscapes(clean) : clean;
    const plain = open.includes('%') ? percentDecoded(open) : open;
    if (plain !== clean && this.#needles.areIn(plain)) clean = this.#without(clean, this.#unescaped(clean));
    if (this.#needles.areIn(clean))
      clean = this.#without(clean, { text: clean, placeOf: (at) => at, needlesOf: (form) => [form] });
    return clean;
  }

  #unescaped(text: string): Searched {
    const { bytes, places } = unescaped(text);
    return { text: bytes, placeOf: (at) => places[at] ?? text.length, needlesOf: (form) => this.#bytesOf(form) };
  }

  /** Also without its escapes: a value may hold percent signs of its own. */
  #bytesOf(form: string): readonly string[] {
    const known = this.#bytes.get(form);
    if (known) return known;
    const made = [...new Set([latinOf(form), unescaped(form).bytes])];
    this.#bytes.set(form, made);
    return made;
  }

  #without(source: string, searched: Searched): string {
    let shown = '';
    let end = 0;
    for (const found of this.#foundIn(searched)) {
      if (found.start >= end) shown += source.slice(end, found.start) + found.marker;
      end = Math.max(end, found.end); // what overlaps is hidden as well
    }
    return shown + source.slice(end);
  }

  /** In their order; of those that begin at one place the longest first, because values may contain each other. */
  #foundIn(searched: Searched): Found[] {
    const found: Found[] = [];
    for (const form of this.#forms.values()) {
      for (const needle of searched.needlesOf(form.text))
        for (const place of placesOf(needle, form, searched)) found.push(place);
    }
    return found.toSorted((a, b) => a.start - b.start || b.end - a.end);
  }
}

function placesOf(needle: string, { hasHead, hasTail, marker }: KnownForm, { text, placeOf }: Searched): Found[] {
  const found: Found[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    const end = at + needle.length;
    const start = hasHead && BASE64.test(text.charAt(at - 1)) ? at - 1 : at;
    found.push({
      start: placeOf(start),
      end: placeOf(hasTail && BASE64.test(text.charAt(end)) ? end + 1 : end),
      marker,
    });
  }
  return found;
}
