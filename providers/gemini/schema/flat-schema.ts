import type { Fields } from 'gw/common-wire';
import { mergeSchemas } from './merge.ts';
import { typesOf } from './types.ts';

/** Where in the document a schema stands. */
export interface Place {
  readonly depth: number;
  /** What the references point at that lead here. */
  readonly open: readonly Fields[];
}

/** A schema without references and without `allOf`, but for what cannot be merged. */
export interface Flat {
  readonly schema: Fields;
  readonly place: Place;
}

/** An alternative with one of these is a shape of its own; without, only one more condition. */
const SHAPING = ['type', 'properties', 'items', 'prefixItems', 'enum', 'anyOf', 'oneOf'];

export const below = ({ depth, open }: Place): Place => ({ depth: depth + 1, open });

export function merged(pieces: readonly Flat[]): Flat {
  const [first] = pieces as [Flat];
  return {
    schema: mergeSchemas(pieces.map(({ schema }) => schema)),
    place: { depth: first.place.depth, open: [...new Set(pieces.flatMap(({ place }) => place.open))] },
  };
}

export function withoutConst(schema: Fields): Fields {
  if (!('const' in schema)) return schema;
  const { const: value, ...rest } = schema;
  return { ...rest, enum: [value] };
}

/** A schema without its types, which stand as alternatives of their own; the null one too. */
export function withoutTypes({ type: _type, enum: values, ...rest }: Fields): Fields {
  return { ...rest, ...(Array.isArray(values) && { enum: values.filter((value) => value !== null) }) };
}

export const isShape = (schema: Fields): boolean => SHAPING.some((keyword) => schema[keyword] !== undefined);

export function isNull(schema: Fields): boolean {
  const [type, second] = typesOf(schema);
  return type === 'null' && second === undefined && schema['anyOf'] === undefined && schema['oneOf'] === undefined;
}
