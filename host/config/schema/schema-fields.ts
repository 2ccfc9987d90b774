/** What the configuration schema is made of. Each field says what it means; the type of the document is derived from it. */
import Joi from 'joi';
import { shown } from './showing.ts';

/** Context of one validation: which coercions the document's format allows. */
export interface SchemaContext {
  /** YAML only: the text a bare number was written in, for fields that want text. */
  readonly numberText?: (path: readonly (string | number)[]) => string | undefined;
}

/** What a field holds, in the words of the documentation. A list or a block says it by what stands in it. */
export type FieldKind = 'text' | 'secret' | 'duration' | 'boolean' | 'integer' | 'number' | 'map' | 'free';

/** What the documentation and the JSON Schema say of a field beside its meaning. The rules hold it; nothing here is checked. */
export interface Wording<T> {
  /** The value that a missing key stands for. */
  readonly otherwise?: T;
  /** What a missing key stands for, in words, where it is not one value: `no bound`. */
  readonly otherwiseSaid?: string;
  /** An entry, or a block that is there, needs it. */
  readonly isRequired?: boolean;
  /** A whole number is as good as a text. */
  readonly orInteger?: boolean;
  /** The texts that are allowed; of a list, as its items. */
  readonly values?: readonly T[];
  readonly min?: number;
  readonly max?: number;
  /** A regular expression for a text; of a map of blocks, for the names in it. */
  readonly pattern?: string;
  /** What else is asked of a value, in words; it stands behind the values and numbers above. */
  readonly bounds?: string;
}

export interface FieldMeta {
  readonly kind: FieldKind | undefined;
  readonly wording: Wording<unknown>;
}

/** A field of the schema. `undefined` is part of `T` where the key may be missing once the document is decoded. */
type Field<T> = Joi.AnySchema<T>;
type Fields = Readonly<Record<string, Joi.AnySchema>>;

/** What a field holds. A schema that holds anything counts as `unknown`, so that it does not pass for a type. */
export type TypeOf<S> = S extends Joi.AnySchema<infer T> ? (unknown extends T ? unknown : T) : never;

type MayBeMissing<F extends Fields> = { [K in keyof F]: undefined extends TypeOf<F[K]> ? K : never }[keyof F];
/** The object that these fields describe. */
export type BlockOf<F extends Fields> = {
  readonly [K in Exclude<keyof F, MayBeMissing<F>>]: TypeOf<F[K]>;
} & { readonly [K in MayBeMissing<F>]?: Exclude<TypeOf<F[K]>, undefined> };

const contextOf = (helpers: Joi.CustomHelpers): SchemaContext => (helpers.prefs.context ?? {}) as SchemaContext;

function readText(value: unknown, helpers: Joi.CustomHelpers): unknown {
  if (typeof value === 'string') return value;
  const written = typeof value === 'number' ? contextOf(helpers).numberText?.(helpers.state.path ?? []) : undefined;
  return written ?? helpers.error('string.base');
}

const YAML_BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);

function readFlag(value: unknown, helpers: Joi.CustomHelpers): unknown {
  if (typeof value === 'boolean') return value;
  const isYaml = contextOf(helpers).numberText !== undefined;
  const read = isYaml && typeof value === 'string' ? YAML_BOOLEANS.get(value.toLowerCase()) : undefined;
  return read ?? helpers.error('boolean.base');
}

const meta = (kind: FieldKind | undefined, wording: object = {}): FieldMeta => ({ kind, wording });
function documented<S extends Joi.AnySchema>(schema: S, meaning: string, fact: FieldMeta): S {
  return schema.meta(fact).description(meaning);
}

/** An item of a list: a text. In YAML a bare number in its place is its own text, in JSON it is a type mismatch. `null` is as omitted. */
export const textItem = Joi.any<string>().custom(readText).empty(null).meta(meta('text'));
export const integerItem = Joi.number().integer().empty(null).meta(meta('integer'));
export const decimalItem = Joi.number().empty(null).meta(meta('number'));

export const text = (meaning: string, wording?: Wording<string>): Field<string | undefined> =>
  documented(Joi.any<string | undefined>().custom(readText).empty(null), meaning, meta('text', wording));

/** A credential: the rules want one reference. Nothing but a reference is ever shown of it. */
export const secret = (meaning: string, wording?: Wording<string>): Field<string | undefined> =>
  documented(
    Joi.any<string | undefined>()
      .custom(readText)
      .empty(null)
      .meta(shown({ as: 'withheld' })),
    meaning,
    meta('secret', wording),
  );

/** A text that is a duration; the rules read it. */
export const duration = (meaning: string, wording?: Wording<string>): Field<string | undefined> =>
  documented(Joi.any<string | undefined>().custom(readText).empty(null), meaning, meta('duration', wording));

/** A boolean. In YAML `yes`, `on`, `no` and `off` count too. */
export const flag = (meaning: string, wording?: Wording<boolean>): Field<boolean | undefined> =>
  documented(Joi.any<boolean | undefined>().custom(readFlag).empty(null), meaning, meta('boolean', wording));

export const integer = (meaning: string, wording?: Wording<number>): Field<number | undefined> =>
  documented(Joi.number<number | undefined>().integer().empty(null), meaning, meta('integer', wording));

export const decimal = (meaning: string, wording?: Wording<number>): Field<number | undefined> =>
  documented(Joi.number<number | undefined>().empty(null), meaning, meta('number', wording));

export const list = <S extends Joi.AnySchema>(
  meaning: string,
  item: S,
  wording?: Wording<string | number>,
): Field<readonly TypeOf<S>[] | undefined> =>
  documented(Joi.array<readonly TypeOf<S>[] | undefined>().items(item).empty(null), meaning, meta(undefined, wording));

/** An item of a list: an object of these keys and no other. */
export const entry = <F extends Fields>(keys: F): Field<BlockOf<F>> =>
  Joi.object<BlockOf<F>>(keys).empty(null).meta(meta(undefined));

/** An item as `entry`, with further keys that `pattern` matches, each of which is an `item`. */
export const entryWith = <F extends Fields>(keys: F, pattern: RegExp, item: Joi.AnySchema): Field<BlockOf<F>> =>
  Joi.object<BlockOf<F>>(keys).pattern(pattern, item).empty(null).meta(meta(undefined));

export const block = <F extends Fields>(
  meaning: string,
  keys: F,
  wording?: Wording<never>,
): Field<BlockOf<F> | undefined> =>
  documented(Joi.object<BlockOf<F> | undefined>(keys).empty(null), meaning, meta(undefined, wording));

/** In a map of texts `null` is the empty text: its key counts. */
const mapValue = Joi.any<string>().custom((value: unknown, helpers) =>
  value === null ? '' : readText(value, helpers),
);

export const textMap = (
  meaning: string,
  wording?: Wording<never>,
): Field<Readonly<Record<string, string>> | undefined> =>
  documented(
    Joi.object<Readonly<Record<string, string>> | undefined>().pattern(Joi.string().allow(''), mapValue).empty(null),
    meaning,
    meta('map', wording),
  );

/** A map whose names the operator chooses, each with a block of the same keys. */
export const blockMap = <S extends Joi.AnySchema>(
  meaning: string,
  item: S,
  wording?: Wording<never>,
): Field<Readonly<Record<string, TypeOf<S>>> | undefined> =>
  documented(
    Joi.object<Readonly<Record<string, TypeOf<S>>> | undefined>().pattern(Joi.string().allow(''), item).empty(null),
    meaning,
    meta(undefined, wording),
  );

type Anything = Readonly<Record<string, unknown>>;

export const freeMap = (meaning: string, wording?: Wording<never>): Field<Anything | undefined> =>
  documented(Joi.object<Anything | undefined>().unknown(true).empty(null), meaning, meta('free', wording));

/** Where `null` stays, because it differs from a key that is missing. */
export const nullableFreeMap = (meaning: string, wording?: Wording<never>): Field<Anything | null | undefined> =>
  documented(Joi.object<Anything | null | undefined>().unknown(true).allow(null), meaning, meta('free', wording));

/** A field that is there after decoding, whatever was written. */
export const always = <T extends Joi.BasicType>(field: Field<T | undefined>, value: NoInfer<T>): Field<T> =>
  field.default(value) as Field<T>; // the default takes the place of `undefined`
