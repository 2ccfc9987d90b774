import { createHash } from 'node:crypto';

/** Most characters of a function's name that every vendor takes. Source: OpenAI API reference, "Chat", 2026-11-22. */
const LONGEST = 64;
const KEPT = 55;

/** A name of at most 64 characters; a longer one ends in a digest of itself, so that long names stay apart. */
export function fitName(name: string): string {
  if (name.length <= LONGEST) return name;
  return `${name.slice(0, KEPT)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}

/** The name of a function that stands in a namespace. */
export function nameIn(namespace: string | undefined, name: string): string {
  return fitName(namespace === undefined ? name : `${namespace}__${name}`);
}
