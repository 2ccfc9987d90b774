/** A variable of the gateway's process, or a file that it reads, with nothing around it: what the gateway takes for a secret (CV47). */
const REFERENCE = /^\$\{(?:[A-Za-z_][A-Za-z0-9_]*|file:[^{}\x00-\x1f\x7f]*)\}$/;

export const REFERENCE_RULE = 'A credential must be a reference: ${NAME} or ${file:/run/secrets/name}.';

/** Whether a text says where a secret is. Anything else could be the secret, and is kept out of every draft and call. */
export const isReference = (text: string): boolean => REFERENCE.test(text);

/** What is wrong with a text where a reference belongs; an empty one is none. */
export function referenceFault(text: string): string | undefined {
  return text === '' || isReference(text) ? undefined : REFERENCE_RULE;
}

/** What is wrong with an address as far as it would carry a secret; all else about it is the gateway's to say. */
export function addressFault(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { username, password } = new URL(text);
  return username === '' && password === ''
    ? undefined
    : 'An address has no user and no password: a credential is a reference below.';
}

/** Whether a text may become a reference by typing on. */
export const isBegun = (text: string): boolean => text === '' || text === '$' || text.startsWith('${');
