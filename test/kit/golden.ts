import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Text of a fixture under `test/fixtures`. */
export function golden(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), 'utf8');
}
