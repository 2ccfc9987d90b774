import { createRequire } from 'node:module';
import type { RE2Set } from 're2js';

interface Library {
  readonly RE2Set: typeof RE2Set;
}

/** The library is loaded with the first pattern. */
export const re2 = (): Library => createRequire(import.meta.url)('re2js') as Library;
