import { hash } from 'node:crypto';
import { MAX_TOOL_NAME } from './targets.ts';

const KEPT = 55;

/** A tool's name as targets with shorter names get it: the same for the same name. See docs/reference/ingress.md#messages-tools. */
export function shortName(name: string): string {
  return name.length <= MAX_TOOL_NAME ? name : `${name.slice(0, KEPT)}_${hash('sha256', name).slice(0, 8)}`;
}

/** Gives back the client's own names for those of an answer. */
export function ownNames(names: Iterable<string>): (name: string) => string {
  const byShort = new Map<string, string>();
  for (const name of names) if (name.length > MAX_TOOL_NAME) byShort.set(shortName(name), name);
  return byShort.size === 0 ? (name) => name : (name) => byShort.get(name) ?? name;
}
