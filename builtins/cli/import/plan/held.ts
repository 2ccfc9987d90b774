import type { Entry } from '../reading.ts';

/** How a format names a variable of the environment: its name, or nothing for other texts. */
export type ReadReference = (value: unknown) => string | undefined;

/** What a value of the document is: the name of a variable, a text that may be shown, or one that may be a secret. */
export type Held =
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'open'; readonly text: string }
  | { readonly kind: 'withheld' };

const NAME = /^[A-Za-z_]\w*$/;
/** What is safe in a line of a shell and in a comment. */
const PLAIN = /^[\w.:/@+,=-]+$/;

/** Reads a value; a secret is never open. `undefined` where nothing stands. */
export function heldIn(entry: Entry, referenceIn: ReadReference, isSecret: boolean): Held | undefined {
  if (!entry.isThere || entry.value === '') return undefined;
  const name = referenceIn(entry.value);
  if (name !== undefined && NAME.test(name)) return { kind: 'reference', name };
  return !isSecret && isOpen(entry.text) ? { kind: 'open', text: entry.text ?? '' } : { kind: 'withheld' };
}

/** Whether a text may be shown: it has no userinfo, query or fragment, each of which may hold a secret. */
export const isOpen = (text: string | undefined): boolean =>
  text !== undefined && PLAIN.test(text) && !(URL.canParse(text) && holdsMore(new URL(text)));

const holdsMore = ({ username, password, search, hash }: URL): boolean =>
  [username, password, search, hash].some((part) => part !== '');

/** What is written as a text, also where the document has something else. */
export const writtenIn = (entry: Entry): string =>
  typeof entry.value === 'string' ? entry.value : JSON.stringify(entry.value ?? '');
