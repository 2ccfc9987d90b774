import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';

/** A compiled pattern. */
export interface LinearPattern {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
}

/**
 * Compiles an RE2 pattern: it takes time in proportion to the text whatever both are, and has no lookaround and no
 * backreferences. Throws with the reason when it does not compile. The library is loaded with the first pattern.
 */
export function linearPattern(pattern: string): LinearPattern {
  const { RE2JS: library } = createRequire(import.meta.url)('re2js') as { readonly RE2JS: typeof RE2JS };
  return library.compile(pattern);
}
