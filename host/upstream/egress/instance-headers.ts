import { setMember } from '../../contract/index.ts';

/** Headers of an instance, by their names in lower case. */
export type InstanceHeaders = Readonly<Record<string, string>>;

/** A list that both sides may extend. Source: Claude API reference, "Beta headers", 2026-11-27. */
const JOINED = 'anthropic-beta';

/** The headers of a request with those of its instance in the place of others with their names. */
export function withInstanceHeaders(
  headers: Readonly<Record<string, string>>,
  own: InstanceHeaders | undefined,
): Readonly<Record<string, string>> {
  if (!own) return headers;
  const merged: Record<string, string> = {};
  let list = '';
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!Object.hasOwn(own, lower)) setMember(merged, name, value);
    else if (lower === JOINED) list = joined(list, value);
  }
  for (const [name, value] of Object.entries(own))
    setMember(merged, name, name === JOINED ? joined(list, value) : value);
  return merged;
}

/** Both lists with a comma between them, each word once. */
function joined(first: string, second: string): string {
  const words = `${first},${second}`
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return [...new Set(words)].join(',');
}
