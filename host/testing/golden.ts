import { deepStrictEqual } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseJson } from '../contract/index.ts';

/** Text of a golden file: `golden(new URL('fixtures/reply.json', import.meta.url))`. */
export function golden(file: URL | string): string {
  return readFileSync(file, 'utf8');
}

/** Fails unless a value is what a golden file of JSON holds. With `update` the file is written instead. */
export function expectGolden(
  file: URL | string,
  value: unknown,
  { update = false }: { readonly update?: boolean } = {},
): void {
  const text = `${JSON.stringify(value, undefined, 2)}\n`;
  if (update) writeFileSync(file, text);
  else deepStrictEqual(parseJson(text), parseJson(golden(file)));
}
