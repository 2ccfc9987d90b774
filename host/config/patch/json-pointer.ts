/** Characters of a pointer at most. */
const LONGEST = 1024;
const NAME = /^(?:[^~]|~[01])*$/;

/** The members that a JSON Pointer names (RFC 6901); a text that says what is wrong with it. */
export function readPointer(text: string): readonly string[] | string {
  if (text.length > LONGEST) return `has ${text.length} characters, the limit is ${LONGEST}`;
  if (text === '') return [];
  if (!text.startsWith('/')) return 'must be empty or begin with /';
  const parts = text.slice(1).split('/');
  if (!parts.every((part) => NAME.test(part))) return 'has a ~ that is neither ~0 nor ~1';
  const names = parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.includes('__proto__') ? 'names __proto__' : names;
}

/** A place in a list as a pointer writes it: without leading zeros. `undefined` for anything else. */
export const placeIn = (name: string): number | undefined =>
  /^(?:0|[1-9]\d{0,9})$/.test(name) ? Number(name) : undefined;

export const pointerText = (names: readonly (string | number)[]): string =>
  names.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
