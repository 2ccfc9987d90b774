import { type Fields, isFields } from '../lib/fields.ts';
import { blockAt, rowsAt } from '../lib/form-values.ts';
import { isSecretKey } from './instance-block.ts';
import { addressFault, isReference, REFERENCE_RULE } from './reference.ts';

const SECRET_WORDS: ReadonlySet<string> = new Set(
  'key keys apikey token tokens secret password authorization credential credentials cookie'.split(' '),
);

/** Whether the name of a header says that its value is a secret, by the gateway's own rule (CV52). */
export const isSecretHeader = (name: string): boolean =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((word) => SECRET_WORDS.has(word));

const SCHEME = /^([A-Za-z]+(?:-[A-Za-z]+)*) (?=\$\{)/;
const LONGEST_SCHEME = 20;

/** A reference, perhaps behind a scheme word and one blank, as `Bearer ${NAME}`. */
export function isHeaderReference(text: string): boolean {
  const scheme = SCHEME.exec(text)?.[1];
  if (scheme === undefined) return isReference(text);
  return scheme.length <= LONGEST_SCHEME && isReference(text.slice(scheme.length + 1));
}

/** A place of a document, and why what stands there is not sent. */
export interface TypedSecret {
  readonly path: string;
  readonly text: string;
}

/** Places of `providers` with a text that could be a secret: where a reference belongs, and addresses with a user or a password. */
export function typedSecrets(document: unknown): readonly TypedSecret[] {
  if (!isFields(document)) return [];
  return Object.entries(blockAt(document, 'providers')).flatMap(([name, entry]) =>
    isFields(entry) ? inEntry(entry, `providers.${name}`) : [],
  );
}

function inEntry(entry: Fields, path: string): readonly TypedSecret[] {
  const headers = Object.entries(blockAt(entry, 'headers'))
    .filter(([name, value]) => isSecretHeader(name) && isTyped(value, isHeaderReference))
    .map(([name]) => ({ path: `${path}.headers.${name}`, text: REFERENCE_RULE }));
  const credentials = rowsAt(entry, 'credentials').flatMap((each, at) => inBlock(each, `${path}.credentials[${at}]`));
  return [...inBlock(entry, path), ...credentials, ...headers, ...inBlock(blockAt(entry, 'proxy'), `${path}.proxy`)];
}

function inBlock(block: Fields, path: string): readonly TypedSecret[] {
  return Object.entries(block).flatMap(([key, value]) => {
    const isAddress = key === 'base_url' || key === 'url';
    const text = isAddress && typeof value === 'string' ? addressFault(value) : undefined;
    if (text !== undefined) return [{ path: `${path}.${key}`, text }];
    return isSecretKey(key) && isTyped(value, isReference) ? [{ path: `${path}.${key}`, text: REFERENCE_RULE }] : [];
  });
}

const isTyped = (value: unknown, isFit: (text: string) => boolean): boolean =>
  typeof value === 'string' && value !== '' && !isFit(value);
