import { createRequire } from 'node:module';
import type { RE2JS, RE2Set } from 're2js';

/** A compiled pattern. */
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
 * loaded with the first pattern.
 */
export function linearPattern(pattern: string): LinearPattern {
  return re2().RE2JS.compile(pattern);
}
