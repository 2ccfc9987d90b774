import { patternSet } from './pattern-set.ts';
import { requireSize } from './pattern-size.ts';
import { re2 } from './re2.ts';

/** A compiled pattern. It keeps nothing between two texts, unlike a `RegExp` with the flag `g`. */
export interface LinearPattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/**
 * Compiles an RE2 pattern: it takes time in proportion to the text whatever both are, and has no
 * lookaround and no backreferences. Throws with the reason when it does not compile. The library is
 * loaded with the first pattern. Take it for every pattern that an operator writes. `RegExp` may
 * take longer than the process has for one unlucky text, and everything else would wait.
 *
 * @param pattern in the syntax of RE2; `(?i)` in front of it makes capital letters not matter.
 * @throws for what is not RE2, and for what would compile to too large a machine (`patternSize`).
 * Compile in `create`, so that a wrong pattern refuses the configuration.
 * @example
 * ```ts
 * import { linearPattern } from 'gw/contract';
 *
 * const card = linearPattern(String.raw`\b\d{4}-\d{4}-\d{4}-\d{4}\b`);
 * export const isCard = card.test('1234-5678-1234-5678'); // true
 * ```
 */
export function linearPattern(pattern: string): LinearPattern {
  const set = patternSet([pattern]);
  return { test: (text) => set.find(text) !== undefined };
}

/**
 * Why a pattern cannot be compiled, without compiling it: for the schema of settings, which is asked
 * several times for one configuration.
 *
 * @returns a reason for operators, or `undefined`.
 * @example
 * ```ts
 * import { patternProblem } from 'gw/contract';
 *
 * export const fine = patternProblem('(?i)aurora'); // undefined
 * export const why = patternProblem('(a'); // error parsing regexp: missing closing ): `(a`
 * ```
 */
export function patternProblem(pattern: string): string | undefined {
  try {
    requireSize([pattern]);
    const { RE2Set } = re2();
    new RE2Set().add(pattern);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
