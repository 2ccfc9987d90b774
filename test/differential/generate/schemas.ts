import type { Dice } from '../../kit/index.ts';

/** A type as an author writes it, before a library prints it as JSON schema. */
export type Kind =
  | {
      readonly kind: 'string';
      readonly format?: string;
      readonly pattern?: string;
      readonly minLength?: number;
      readonly maxLength?: number;
    }
  | {
      readonly kind: 'integer' | 'number';
      readonly over?: number;
      readonly least?: number;
      readonly below?: number;
      readonly most?: number;
      readonly step?: number;
    }
  | { readonly kind: 'boolean' | 'null' | 'any' }
  | { readonly kind: 'literal'; readonly value: string | number | boolean }
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }
  | { readonly kind: 'list'; readonly of: Kind; readonly least?: number; readonly most?: number }
  | { readonly kind: 'tuple'; readonly of: readonly Kind[] }
  | { readonly kind: 'map'; readonly of: Kind }
  | { readonly kind: 'either'; readonly of: readonly Kind[] }
  | { readonly kind: 'nullable'; readonly of: Kind }
  | { readonly kind: 'object'; readonly name: string; readonly members: Readonly<Record<string, Member>> };

export interface Member {
  readonly kind: Kind;
  readonly isOptional?: boolean;
  readonly description?: string;
  readonly standard?: unknown;
}

export type Printer = 'zod' | 'pydantic' | 'typebox';
type Json = Record<string, any>;

const NAMES = ['harbour', 'hours', 'unit', 'title', 'type', 'default', 'lights', 'enum', 'berth_no', 'format'];

/** A random object type, as arguments of a function are. */
export function typeOf(dice: Dice, depth = 2): Kind & { readonly kind: 'object' } {
  const names = new Set(Array.from({ length: dice.below(4) }, () => dice.pick(NAMES)));
  const members = [...names].map((name): [string, Member] => [name, memberOf(dice, depth)]);
  return { kind: 'object', name: `Type${dice.below(90)}`, members: Object.fromEntries(members) };
}

function memberOf(dice: Dice, depth: number): Member {
  return {
    kind: kindOf(dice, depth),
    ...(dice.below(4) === 0 && { isOptional: true }),
    ...(dice.below(4) === 0 && { description: 'what it is' }),
    ...(dice.below(9) === 0 && { standard: null }),
  };
}

function kindOf(dice: Dice, depth: number): Kind {
  const deep =
    depth > 0
      ? [
          (): Kind => ({
            kind: 'list',
            of: kindOf(dice, depth - 1),
            ...(dice.below(3) === 0 && { least: 1, most: 5 }),
          }),
          (): Kind => ({ kind: 'tuple', of: [kindOf(dice, 0), kindOf(dice, 0)] }),
          (): Kind => ({ kind: 'map', of: kindOf(dice, depth - 1) }),
          (): Kind => ({ kind: 'either', of: [kindOf(dice, depth - 1), kindOf(dice, 0)] }),
          (): Kind => ({ kind: 'nullable', of: kindOf(dice, depth - 1) }),
          (): Kind => typeOf(dice, depth - 1),
        ]
      : [];
  const flat = [
    (): Kind => ({ kind: 'string' }),
    (): Kind => ({ kind: 'string', ...stringLimits(dice) }),
    (): Kind => ({ kind: dice.pick(['integer', 'number']), ...numberLimits(dice) }),
    (): Kind => ({ kind: dice.pick(['boolean', 'boolean', 'null', 'any']) }),
    (): Kind => ({ kind: 'literal', value: dice.pick(['calm', 7, true]) }),
    (): Kind => ({
      kind: 'choice',
      values: dice.pick([
        ['calm', 'rough'],
        [1, 2, 3],
        ['', 'n/a'],
      ]),
    }),
  ];
  return dice.pick([...flat, ...deep])();
}

const stringLimits = (dice: Dice): object =>
  dice.pick([{ format: 'date-time' }, { format: 'email' }, { pattern: '^[a-z]+$' }, { minLength: 1, maxLength: 40 }]);
const numberLimits = (dice: Dice): object =>
  dice.pick([{}, { over: 0 }, { least: 0, most: 10 }, { below: 100 }, { step: 5 }]);

/** The JSON schema that a library prints of the type. */
export function printed(type: Kind, printer: Printer): Json {
  if (printer === 'zod') return { $schema: 'https://json-schema.org/draft/2020-12/schema', ...zod(type) };
  if (printer === 'typebox') return typebox(type);
  const definitions: Json = {};
  const { $ref: _self, ...top } = pydantic(type, definitions, true);
  return Object.keys(definitions).length > 0 ? { $defs: definitions, ...top } : top;
}

const required = (members: Readonly<Record<string, Member>>): string[] =>
  Object.keys(members).filter((name) => !members[name]?.isOptional);

function limits(type: Kind): Json {
  if (type.kind === 'string') {
    const { kind: _kind, ...rest } = type;
    return rest;
  }
  if (type.kind !== 'integer' && type.kind !== 'number') return {};
  const { over, least, below, most, step } = type;
  return {
    ...(over !== undefined && { exclusiveMinimum: over }),
    ...(least !== undefined && { minimum: least }),
    ...(below !== undefined && { exclusiveMaximum: below }),
    ...(most !== undefined && { maximum: most }),
    ...(step !== undefined && { multipleOf: step }),
  };
}

/** As `z.toJSONSchema` of zod 4.6 prints it. */
function zod(type: Kind): Json {
  switch (type.kind) {
    case 'any':
      return {};
    case 'integer':
      return { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER, ...limits(type) };
    case 'literal':
      return { type: typeof type.value, const: type.value };
    case 'choice':
      return { type: typeof type.values[0], enum: [...type.values] };
    case 'list':
      return {
        type: 'array',
        items: zod(type.of),
        ...(type.least !== undefined && { minItems: type.least }),
        ...(type.most !== undefined && { maxItems: type.most }),
      };
    case 'tuple':
      return { type: 'array', prefixItems: type.of.map(zod) };
    case 'map':
      return { type: 'object', propertyNames: { type: 'string' }, additionalProperties: zod(type.of) };
    case 'either':
      return { anyOf: type.of.map(zod) };
    case 'nullable':
      return { anyOf: [zod(type.of), { type: 'null' }] };
    case 'object':
      return {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(type.members).map(([name, member]) => [
            name,
            {
              ...(member.standard !== undefined && { default: member.standard }),
              ...described(member),
              ...zod(member.kind),
            },
          ]),
        ),
        ...(required(type.members).length > 0 && { required: required(type.members) }),
        additionalProperties: false,
      };
    default:
      return { type: type.kind, ...limits(type) };
  }
}

const described = ({ description }: Member): Json => (description === undefined ? {} : { description });

/** As `model_json_schema` of pydantic 2 prints it: nested models by reference, a title on everything. */
function pydantic(type: Kind, definitions: Json, isTop = false): Json {
  switch (type.kind) {
    case 'any':
      return {};
    case 'literal':
      return { const: type.value, type: typeof type.value };
    case 'choice':
      return { enum: [...type.values], type: typeof type.values[0] === 'string' ? 'string' : 'integer' };
    case 'list':
      return {
        items: pydantic(type.of, definitions),
        type: 'array',
        ...(type.least !== undefined && { minItems: type.least }),
        ...(type.most !== undefined && { maxItems: type.most }),
      };
    case 'tuple':
      return {
        maxItems: type.of.length,
        minItems: type.of.length,
        prefixItems: type.of.map((one) => pydantic(one, definitions)),
        type: 'array',
      };
    case 'map':
      return { additionalProperties: pydantic(type.of, definitions), type: 'object' };
    case 'either':
      return { anyOf: type.of.map((one) => pydantic(one, definitions)) };
    case 'nullable':
      return { anyOf: [pydantic(type.of, definitions), { type: 'null' }] };
    case 'object': {
      const properties = Object.fromEntries(
        Object.entries(type.members).map(([name, member]) => [
          name,
          {
            ...pydantic(member.kind, definitions),
            ...(member.isOptional && { default: member.standard ?? null }),
            ...described(member),
            ...(member.kind.kind !== 'object' && { title: name }),
          },
        ]),
      );
      const schema = {
        properties,
        ...(required(type.members).length > 0 && { required: required(type.members) }),
        title: type.name,
        type: 'object',
      };
      if (isTop) return schema;
      definitions[type.name] = schema;
      return { $ref: `#/$defs/${type.name}` };
    }
    default:
      return { type: type.kind, ...limits(type) };
  }
}

/** As TypeBox 0.34 builds it: alternatives of constants, records by pattern. */
function typebox(type: Kind): Json {
  switch (type.kind) {
    case 'any':
      return {};
    case 'literal':
      return { const: type.value, type: typeof type.value };
    case 'choice':
      return { anyOf: type.values.map((value) => ({ const: value, type: typeof value })) };
    case 'list':
      return {
        type: 'array',
        items: typebox(type.of),
        ...(type.least !== undefined && { minItems: type.least }),
        ...(type.most !== undefined && { maxItems: type.most }),
      };
    case 'tuple':
      return {
        type: 'array',
        items: type.of.map(typebox),
        additionalItems: false,
        minItems: type.of.length,
        maxItems: type.of.length,
      };
    case 'map':
      return { type: 'object', patternProperties: { '^(.*)$': typebox(type.of) } };
    case 'either':
      return { anyOf: type.of.map(typebox) };
    case 'nullable':
      return { anyOf: [typebox(type.of), { type: 'null' }] };
    case 'object':
      return {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(type.members).map(([name, member]) => [
            name,
            { ...typebox(member.kind), ...described(member) },
          ]),
        ),
        ...(required(type.members).length > 0 && { required: required(type.members) }),
      };
    default:
      return { type: type.kind, ...limits(type) };
  }
}
