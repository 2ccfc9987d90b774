const SECRET_WORDS: ReadonlySet<string> = new Set([
  'key',
  'keys',
  'apikey',
  'token',
  'tokens',
  'secret',
  'password',
  'authorization',
  'credential',
  'credentials',
  'cookie',
]);

/** Whether one of the words that the name of a header is made of says that its value is a secret. */
export const isSecretHeader = (name: string): boolean =>
  name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .some((word) => SECRET_WORDS.has(word));
