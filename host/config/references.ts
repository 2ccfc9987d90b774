import type { Path } from './problems.ts';

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** Whether a text holds a reference: what the text will be is not known before it is replaced. */
export const holdsReference = (value: unknown): boolean => typeof value === 'string' && value.search(REFERENCE) >= 0;

/** A reference, and where its text stands. */
export interface FoundReference {
  readonly path: Path;
  readonly name: string;
}

/** References in string values at any depth, each once a text: those that `resolveReferences` would replace. */
export function referencesIn(value: unknown, path: Path): FoundReference[] {
  if (typeof value === 'string')
    return [...new Set([...value.matchAll(REFERENCE)].map(([, name = '']) => name))].map((name) => ({ path, name }));
  if (Array.isArray(value)) return value.flatMap((item, index) => referencesIn(item, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => referencesIn(member, [...path, key]));
}

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

/** One place that a secret of `providers` is read from: a variable of the process, or a file. */
export type SecretReference =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

const VARIABLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;
const FILE = /^\$\{file:([^{}\x00-\x1f\x7f]*)\}$/;

/**
 * The reference that a text is, with nothing around it: `${NAME}` or `${file:/absolute/path}`. `undefined` for any other
 * text. Whether the path is absolute and where it may lie is a rule of its own. Only secret fields of `providers`
 * know files: elsewhere `${file:…}` is plain text.
 */
export function parseReference(text: string): SecretReference | undefined {
  const name = VARIABLE.exec(text)?.[1];
  if (name !== undefined) return { kind: 'variable', name };
  const path = FILE.exec(text)?.[1];
  return path === undefined ? undefined : { kind: 'file', path };
}

/** Letters and hyphens, so that few secrets could pass for one. */
const SCHEME = /^([A-Za-z]+(?:-[A-Za-z]+)*) (?=\$\{)/;
const LONGEST_SCHEME = 20;

export interface HeaderReference {
  /** The word in front of the secret, such as `Bearer`; `undefined` where the secret is the whole value. */
  readonly scheme: string | undefined;
  readonly reference: SecretReference;
}

/** The value of a header that is one reference, or a scheme word, one blank and a reference; `undefined` for any other. */
export function parseHeaderReference(text: string): HeaderReference | undefined {
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme !== undefined && scheme.length > LONGEST_SCHEME) return undefined;
  const reference = parseReference(scheme === undefined ? text : text.slice(scheme.length + 1));
  return reference && { scheme, reference };
}

/** A reference as an operator wrote it: `${NAME}`, or the path of a file. It says where a secret is, and not what. */
export const referenceText = (reference: SecretReference): string =>
  reference.kind === 'variable' ? `\${${reference.name}}` : reference.path;
