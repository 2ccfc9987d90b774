import type { Redactor } from './redact.ts';

/** A copy of plain data with every text in it redacted. In a finished JSON text, what is hidden may end inside an escape. */
export function redactedCopy<T>(value: T, redactor: Redactor): T {
  const copy = (node: unknown): unknown => {
    if (typeof node === 'string') return redactor.redact(node);
    if (Array.isArray(node)) return node.map(copy);
    return typeof node === 'object' && node !== null
      ? Object.fromEntries(Object.entries(node).map(([name, member]) => [name, copy(member)]))
      : node;
  };
  return copy(value) as T;
}
