import { isFields } from './fields.ts';

/** What the gateway puts in the place of a secret. */
const MARKER = '[REDACTED';

export function isRedacted(text: string): boolean {
  return text.includes(MARKER);
}

/**
 * Paths of everything in a document that carries the marker, as the gateway names them: `mcp_servers[0].headers`. A member
 * whose own name was withheld is named by the map that holds it.
 */
export function redactedPaths(document: unknown): string[] {
  const found = new Set<string>();
  collect(document, '', found);
  return [...found];
}

function collect(value: unknown, path: string, found: Set<string>): void {
  if (typeof value === 'string') {
    if (isRedacted(value)) found.add(path);
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) collect(item, `${path}[${at}]`, found);
  } else if (isFields(value)) {
    for (const [name, member] of Object.entries(value)) {
      if (isRedacted(name)) found.add(path);
      else collect(member, path === '' ? name : `${path}.${name}`, found);
    }
  }
}
