/**
 * How the proof of an import reads the other gateway's document: by itself, without anything that the import itself reads
 * it with, so that a mistake of one is seen by the other.
 */

/** Where the other gateway sends a request. */
export interface SourcePlace {
  /** The provider, by the name it has here; another text for one that gw does not have. */
  readonly kind: string;
  /** Its address as the document has it; empty for that of the provider. */
  readonly address: string;
  /** Region and project, where the document names any. */
  readonly within: readonly string[];
  /** What the provider calls the model. */
  readonly model: string;
}

export interface SourceRoute {
  readonly place: SourcePlace;
  /** Share of the requests that come here first; `undefined` where the document leaves it to something else than weights. */
  readonly share: number | undefined;
}

/** A name that clients may ask for there. */
export interface SourceName {
  /** As the document has it. */
  readonly name: string;
  /** A name that stands for it, where it has a star. */
  readonly asked: string;
  readonly routes: readonly SourceRoute[];
  /** Places that are asked where those fail. */
  readonly followers: readonly SourcePlace[];
}

/** Reads a document of one format. `valueOf` is what a variable of the environment holds. */
export type ReadSource = (document: unknown, valueOf: (name: string) => string) => readonly SourceName[];

type Fields = Readonly<Record<string, unknown>>;

export const fieldsAt = (value: unknown, ...path: readonly string[]): Fields => {
  const found = valueAt(value, ...path);
  return typeof found === 'object' && found !== null && !Array.isArray(found)
    ? Object.fromEntries(Object.entries(found))
    : {};
};

export const listAt = (value: unknown, ...path: readonly string[]): readonly unknown[] => {
  const found = valueAt(value, ...path);
  return Array.isArray(found) ? found : [];
};

export const textAt = (value: unknown, ...path: readonly string[]): string => {
  const found = valueAt(value, ...path);
  return typeof found === 'string' ? found : '';
};

export const numberAt = (value: unknown, ...path: readonly string[]): number | undefined => {
  const found = valueAt(value, ...path);
  const number = typeof found === 'string' && /^\d+(?:\.\d+)?$/.test(found) ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
};

export const valueAt = (value: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (at, member) =>
      typeof at === 'object' && at !== null && !Array.isArray(at) && Object.hasOwn(at, member)
        ? Object.entries(at).find(([name]) => name === member)?.[1]
        : undefined,
    value,
  );

/** What stands for the star of a name. */
export const SAMPLE = 'some-model';
