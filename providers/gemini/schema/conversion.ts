import { type Fields, isFields } from 'gw/common-wire';
import { type Allowance, MAX_DEPTH, MAX_FOLLOWED, MAX_REPEATED, MAX_SCHEMAS, TooLarge } from './allowance.ts';
import { below, type Flat, isNull, isShape, merged, type Place, withoutConst, withoutTypes } from './flat-schema.ts';
import { distinct } from './merge.ts';
import { nameOf, referenceOf, type References } from './references.ts';
import { ANYTHING, type Sorted, type Type, typesOf, valuesOf } from './types.ts';
import { describe, sortKeywords } from './words.ts';

/** What a schema says about its values beside which values they are. */
const ANNOTATIONS = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'nullable',
  'readOnly',
  'writeOnly',
  'deprecated',
  'discriminator',
]);
/** Keywords without a field of the vendor's that hold a schema, a list of schemas, or schemas by name. */
const HOLDS_ONE = new Set([
  'not',
  'additionalProperties',
  'propertyNames',
  'contains',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'if',
  'then',
  'else',
  'contentSchema',
]);
const HOLDS_LIST = new Set(['prefixItems', 'allOf', 'oneOf', 'any of']);
const HOLDS_MAP = new Set(['patternProperties', 'dependentSchemas']);

/** One attempt at a document, in which so many references inside each other are followed. Throws `TooLarge`. */
export class Conversion {
  readonly #references: References;
  readonly #followed: number;
  readonly #allowance: Allowance;
  readonly #lengths = new Map<Fields, number>();
  readonly #types = new Map<Fields, readonly Type[]>();
  #schemas = 0;
  #repeated = 0;

  constructor(references: References, followed: number, allowance: Allowance) {
    this.#references = references;
    this.#followed = followed;
    this.#allowance = allowance;
  }

  convert(document: Fields): Fields {
    return this.#schema(document, { depth: 0, open: [] });
  }

  #schema(value: unknown, place: Place): Fields {
    return this.#fromFlat(this.#flatten(value, place));
  }

  /** Follows references, and takes all that must hold together as one schema. */
  #flatten(value: unknown, place: Place): Flat {
    this.#schemas += 1;
    if (this.#schemas > (this.#followed > 0 ? MAX_FOLLOWED : MAX_SCHEMAS) || place.depth > MAX_DEPTH)
      throw new TooLarge();
    if (this.#followed > 0) this.#allowance.spend();
    if (!isFields(value)) return { schema: value === false ? { not: {} } : {}, place };
    const reference = referenceOf(value);
    if (reference)
      return merged([this.#flatten(reference.beside, below(place)), this.#follow(reference.pointer, place)]);
    const { allOf, ...own } = withoutConst(value);
    if (!Array.isArray(allOf)) return { schema: own, place };
    return merged([{ schema: own, place }, ...allOf.map((member) => this.#flatten(member, below(place)))]);
  }

  #follow(pointer: string, place: Place): Flat {
    const target = this.#references.find(pointer);
    if (!target) return { schema: {}, place };
    const isCircle = place.open.includes(target);
    if (!isCircle && place.open.length < this.#followed) {
      this.#repeat(target);
      return this.#flatten(target, { depth: place.depth + 1, open: [...place.open, target] });
    }
    const type = this.#typeOf(target);
    const description = `The same as ${nameOf(pointer)}${isCircle ? ', which this is part of' : ''}.`;
    return { schema: { ...(type && { type }), description }, place };
  }

  /** Once for each schema: many references may point at one that lists many values. */
  #typeOf(target: Fields): Type | undefined {
    const known = this.#types.get(target);
    if (known) return known[0];
    const types = typesOf(withoutConst(target));
    this.#types.set(target, types);
    return types[0];
  }

  #repeat(schema: Fields): void {
    const length = this.#lengths.get(schema) ?? JSON.stringify(schema).length;
    this.#lengths.set(schema, length);
    this.#repeated += length;
    if (this.#repeated > MAX_REPEATED) throw new TooLarge();
    this.#allowance.repeat(length, this.#followed > 0);
  }

  #fromFlat({ schema, place }: Flat): Fields {
    const { anyOf, oneOf, ...rest } = schema;
    if (Array.isArray(anyOf)) return this.#union(anyOf, { ...rest, ...(oneOf !== undefined && { oneOf }) }, place);
    if (Array.isArray(oneOf)) return this.#union(oneOf, rest, place);
    const types = typesOf(schema);
    const [type, second] = types.filter((name) => name !== 'null');
    if (second)
      return this.#union(
        types.map((name) => ({ type: name })),
        withoutTypes(schema),
        place,
      );
    if (type) return this.#typed(type, types.includes('null') ? { ...schema, nullable: true } : schema, place);
    return this.#written(
      types.length > 0 ? { type: 'null' } : ANYTHING,
      schema,
      sortKeywords(schema, undefined).remarks,
      place,
    );
  }

  /** Alternatives, each with what holds for all of them. One that is null makes the others nullable. */
  #union(given: readonly unknown[], rest: Fields, place: Place): Fields {
    const alternatives = given.map((alternative) => this.#flatten(alternative, below(place)));
    const others = alternatives.filter(({ schema }) => !isNull(schema));
    const about = Object.entries(rest).filter(([name]) => ANNOTATIONS.has(name));
    const isNullable = others.length < alternatives.length || rest['nullable'] === true;
    const annotations: Fields = { ...Object.fromEntries(about), ...(isNullable && { nullable: true }) };
    const shared = Object.fromEntries(Object.entries(rest).filter(([name]) => !ANNOTATIONS.has(name)));
    const hasShared = Object.keys(shared).length > 0;
    if (hasShared && others.every(({ schema }) => !isShape(schema))) {
      return this.#fromFlat({
        schema: {
          ...shared,
          ...annotations,
          ...(others.length > 0 && { 'any of': others.map(({ schema }) => schema) }),
        },
        place,
      });
    }
    const whole = others.map((other, at) => {
      if (hasShared && at > 0) this.#repeat(shared);
      return hasShared ? merged([other, { schema: shared, place }]) : other;
    });
    const [only, second] = whole;
    if (!only) return this.#written({ type: 'null' }, { ...annotations, nullable: false }, [], place);
    if (!second) return this.#fromFlat(merged([{ schema: annotations, place }, only]));
    const anyOf = distinct(whole.map((alternative) => this.#fromFlat(alternative)));
    return this.#written({ anyOf }, annotations, sortKeywords(annotations, undefined).remarks, place);
  }

  #typed(type: Type, schema: Fields, place: Place): Fields {
    const { fields, remarks } = sortKeywords(schema, type);
    const parts = [this.#members(type, schema, place), valuesOf(type, schema['enum']), { fields, remarks }];
    const values = Object.fromEntries(parts.flatMap((part) => part.fields));
    return this.#written(
      { type, ...values },
      schema,
      parts.flatMap((part) => part.remarks),
      place,
    );
  }

  #members(type: Type, schema: Fields, place: Place): Sorted {
    if (type === 'object') return this.#properties(schema, place);
    return type === 'array' ? this.#items(schema, place) : { fields: [], remarks: [] };
  }

  /** Only properties that are described can be required, or have a place in the order. */
  #properties({ properties, required, propertyOrdering: order }: Fields, place: Place): Sorted {
    const given = isFields(properties) ? properties : undefined;
    const names = Array.isArray(required) ? [...new Set(required)].filter((name) => typeof name === 'string') : [];
    const isDescribed = (name: string): boolean => given !== undefined && Object.hasOwn(given, name);
    const [described, others] = [names.filter(isDescribed), names.filter((name) => !isDescribed(name))];
    const ordered = Array.isArray(order) ? order.filter((name) => typeof name === 'string' && isDescribed(name)) : [];
    return {
      fields: [
        ...(given
          ? [
              [
                'properties',
                Object.fromEntries(
                  Object.entries(given).map(([name, value]) => [name, this.#schema(value, below(place))]),
                ),
              ] as const,
            ]
          : []),
        ...(described.length > 0 ? [['required', described] as const] : []),
        ...(ordered.length > 0 ? [['propertyOrdering', ordered] as const] : []),
      ],
      remarks: others.length > 0 ? [['required', others]] : [],
    };
  }

  /** The vendor wants the items of every list described, all in one way: tuples have alternatives. */
  #items({ items, prefixItems, additionalItems }: Fields, place: Place): Sorted {
    const isTuple = Array.isArray(items);
    const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : isTuple ? items : [];
    const rest = isTuple ? additionalItems : items;
    const all = distinct(
      [...first, ...(isFields(rest) || rest === true ? [rest] : [])].map((item) => this.#schema(item, below(place))),
    );
    const described = all.length > 1 ? { anyOf: all } : all[0];
    return { fields: [['items', described ?? ANYTHING]], remarks: isTuple ? [['prefixItems', items]] : [] };
  }

  /** The vendor's form of it: what the values are, and what is said about them. */
  #written(
    values: Fields,
    { title, description, default: preset, example, nullable }: Fields,
    remarks: Sorted['remarks'],
    place: Place,
  ): Fields {
    const text = describe(
      description,
      remarks.map(([keyword, value]) => [keyword, this.#legible(keyword, value, place)]),
    );
    return {
      ...values,
      ...(typeof title === 'string' && { title }),
      ...(text !== undefined && { description: text }),
      ...(preset !== undefined && { default: preset }),
      ...(example !== undefined && { example }),
      ...(nullable === true && { nullable }),
    };
  }

  /** Schemas for the description, without their references: what they point at is not sent. */
  #legible(keyword: string, value: unknown, place: Place): unknown {
    if (!/"\$(?:dynamic|recursive)?[rR]ef"/.test(JSON.stringify(value))) return value;
    const inner = below(place);
    if (HOLDS_ONE.has(keyword)) return this.#schema(value, inner);
    if (HOLDS_LIST.has(keyword) && Array.isArray(value)) return value.map((item) => this.#schema(item, inner));
    if (!HOLDS_MAP.has(keyword) || !isFields(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, this.#schema(item, inner)]));
  }
}
