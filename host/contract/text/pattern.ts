import { createRequire } from 'node:module';
import type { RE2JS, RE2Set } from 're2js';

/** A compiled pattern. It keeps nothing between two texts, unlike a `RegExp` with the flag `g`. */
export interface LinearPattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

interface Library {
  readonly RE2JS: typeof RE2JS;
  readonly RE2Set: typeof RE2Set;
}

/** The library is loaded with the first pattern. */
export const re2 = (): Library => createRequire(import.meta.url)('re2js') as Library;

/**
 * Compiles an RE2 pattern: it takes time in proportion to the text whatever both are, and has no
 * lookaround and no backreferences. Throws with the reason when it does not compile. The library is
 * loaded with the first pattern. Take it for every pattern that an operator writes. `RegExp` may
 * take longer than the process has for one unlucky text, and everything else would wait.
 *
 * @param pattern in the syntax of RE2; `(?i)` in front of it makes capital letters not matter.
 * @throws for what is not RE2. Compile in `create`, so that a wrong pattern refuses the
 * configuration.
 * @example
 * ```ts
 * import { linearPattern } from 'gw/contract';
 *
 * const card = linearPattern(String.raw`\b\d{4}-\d{4}-\d{4}-\d{4}\b`);
 * export const isCard = card.test('1234-5678-1234-5678'); // true
 * ```
 */
export function linearPattern(pattern: string): LinearPattern {
  return re2().RE2JS.compile(pattern);
}
