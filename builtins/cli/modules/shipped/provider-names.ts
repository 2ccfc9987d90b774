/** A provider to ship, with its name as each of its places writes it. */
export interface ShippedProvider {
  readonly name: string;
  /** What the manifest and its test import it as. */
  readonly identifier: string;
  /** The beginning of its variables: `ACME` of `ACME_API_KEY`. */
  readonly prefix: string;
  /** Its name as a key of an object in source. */
  readonly key: string;
  /** The model that its tests ask for. */
  readonly model: string;
  /** The day its first answers are dated, `2026-01-31`. */
  readonly day: string;
}

const camel = (name: string): string => name.replaceAll(/-([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** An identifier that the manifest has already, as that of a strategy, or that begins with a digit, gets a word more. */
export function shippedProvider(name: string, manifest: string, now: Date): ShippedProvider {
  const plain = camel(name);
  const isFree = /^[a-z]/.test(plain) && !new RegExp(`\\b${plain}\\b`).test(manifest);
  return {
    name,
    identifier: isFree ? plain : camel(`provider-${name}`),
    prefix: name.toUpperCase().replaceAll('-', '_'),
    key: /^[a-z][a-z0-9]*$/.test(name) ? name : `'${name}'`,
    model: `${name}-1`,
    day: now.toISOString().slice(0, 10),
  };
}
