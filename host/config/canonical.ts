import { configure } from 'safe-stable-stringify';

const stable = configure({ bigint: false, circularValue: undefined, deterministic: true });

/** JSON with sorted keys: two values that mean the same give the same text. `null` and `{}` differ. */
export function canonicalJson(value: unknown): string {
  return stable(value) ?? 'null';
}
