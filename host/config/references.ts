const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Whether a text holds a reference: what the text will be is not known before it is replaced. */
export const holdsReference = (value: unknown): boolean => typeof value === 'string' && value.search(REFERENCE) >= 0;

export interface Resolved<T> {
  readonly value: T;
  /** Names that are not defined, sorted, each once. */
  readonly undefinedNames: readonly string[];
}

/**
 * A copy with every `${NAME}` inside string values replaced, at any depth; keys and other values stay. One pass: what
 * was substituted is not expanded again. Everything else that looks similar (`$NAME`, `${A:-x}`, `$$`) stays as it is.
 * `hide` gets every value that took the place of a reference: whatever its variable is called, it may be a credential.
 */
export function resolveReferences<T>(
  value: T,
  environment: Readonly<Record<string, string | undefined>>,
  hide: (secret: string) => void,
): Resolved<T> {
  const missing = new Set<string>();
  const substitute = (text: string): string =>
    text.replace(REFERENCE, (whole, name: string) => {
      const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
      if (found === undefined) missing.add(name);
      else hide(found);
      return found ?? whole;
    });
  const copy = (node: unknown): unknown => {
    if (typeof node === 'string') return substitute(node);
    if (Array.isArray(node)) return node.map(copy);
    if (typeof node === 'object' && node !== null) {
      return Object.fromEntries(Object.entries(node).map(([key, member]) => [key, copy(member)]));
    }
    return node;
  };
  return { value: copy(value) as T, undefinedNames: [...missing].toSorted() };
}
