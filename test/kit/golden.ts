import { golden as read } from '../../host/testing/golden.ts';

/** Text of a fixture under `test/fixtures`. */
export function golden(name: string): string {
  return read(new URL(`../fixtures/${name}`, import.meta.url));
}
