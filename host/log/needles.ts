/** Characters that are compared at once, and of how many a needle has at least. */
const GRAM = 4;
export const MIN_NEEDLE = 12;
/** One in this many grams of each needle's first characters begins where the text is looked at. */
const STRIDE = MIN_NEEDLE - GRAM + 1;

interface Place {
  readonly needle: string;
  readonly offset: number;
}

/**
 * Tells whether any of many texts stands in another. It looks at one place in nine, whatever their number: every log line
 * passes here. A regular expression of them all tries each at each character.
 */
export class Needles {
  /** By the first two characters of a gram, and by the hash of it: whether a needle holds it among its first characters. */
  readonly #pairs = new Uint8Array(1 << 16);
  readonly #grams = new Uint8Array(1 << 16);
  readonly #places = new Map<number, Place[]>();

  add(needle: string): void {
    for (let offset = 0; offset < STRIDE; offset += 1) {
      const hash = hashAt(needle, offset);
      this.#pairs[pairAt(needle, offset)] = 1;
      this.#grams[hash] = 1;
      const places = this.#places.get(hash);
      if (places) places.push({ needle, offset });
      else this.#places.set(hash, [{ needle, offset }]);
    }
  }

  areIn(text: string): boolean {
    for (let at = 0; at + GRAM <= text.length; at += STRIDE) {
      if (this.#pairs[pairAt(text, at)] === 0) continue;
      const hash = hashAt(text, at);
      if (this.#grams[hash] === 1 && this.#standsAt(text, at, hash)) return true;
    }
    return false;
  }

  #standsAt(text: string, at: number, hash: number): boolean {
    const places = this.#places.get(hash) ?? [];
    return places.some(({ needle, offset }) => at >= offset && text.startsWith(needle, at - offset));
  }
}

function pairAt(text: string, at: number): number {
  return (text.charCodeAt(at) & 0xff) | ((text.charCodeAt(at + 1) & 0xff) << 8);
}

function hashAt(text: string, at: number): number {
  return Math.imul(pairAt(text, at) | (pairAt(text, at + 2) << 16), 0x9e3779b1) >>> 16;
}
