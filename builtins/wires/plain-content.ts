import type { ContentPart } from '../../host/contract/index.ts';

/** A single text as a string, unless something else stands beside it. */
export function plainContent(parts: readonly ContentPart[]): string | readonly ContentPart[] {
  const [only, other] = parts;
  return only?.type === 'text' && !other && only['cache_control'] === undefined ? only.text : parts;
}
