import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { z } from 'zod';
import gemini from '../../providers/gemini/index.ts';
import { toParameters, toVendorSchema } from '../../providers/gemini/schema/index.ts';
import { cases, Dice, golden, sentBy } from '../kit/index.ts';
import { schemaProblems } from './gemini-strict.ts';

const Category = z.object({
  name: z.string(),
  get parts() {
    return z.array(Category);
  },
});

/** Schemas as people write them with zod 4. */
const ZOD: Readonly<Record<string, z.ZodType>> = {
  texts: z.object({
    email: z.email(),
    url: z.url(),
    id: z.uuid(),
    at: z.iso.datetime(),
    day: z.iso.date(),
    took: z.iso.duration(),
    data: z.base64(),
    mood: z.emoji(),
    ip: z.ipv4(),
    net: z.cidrv6(),
    token: z.jwt(),
    short: z.string().min(1).max(5),
    coded: z.string().regex(/^[A-Z]{3}-\d+$/),
    template: z.templateLiteral(['v', z.number()]),
    never: z.never(),
    file: z.file(),
  }),
  numbers: z.object({
    count: z.number().int().positive(),
    share: z.number().gt(0).lt(1),
    step: z.number().multipleOf(5),
    port: z.uint32(),
    small: z.int32(),
    float: z.float32(),
  }),
  choices: z.object({
    color: z.enum(['red', 'blue']),
    empty: z.enum(['', 'a']),
    size: z.literal([4, 6, 8]),
    mixed: z.literal([1, 'a', null]),
    yes: z.literal(true),
    nothing: z.null(),
    either: z.union([z.string(), z.number(), z.object({ a: z.string() })]),
    maybe: z.string().nullable().default('x').describe('d'),
    optional: z.string().optional(),
    any: z.any(),
    unknown: z.unknown(),
  }),
  lists: z.object({
    tags: z.array(z.string()).min(1).max(3),
    pair: z.tuple([z.string(), z.number()]),
    rest: z.tuple([z.string()], z.number()),
    nested: z.array(z.array(z.number())),
    anything: z.array(z.any()),
  }),
  maps: z.object({
    scores: z.record(z.string(), z.number()),
    some: z.partialRecord(z.enum(['x', 'y']), z.string()),
    loose: z.looseObject({ a: z.string() }),
    strict: z.strictObject({}),
    rest: z.object({ a: z.string() }).catchall(z.number()),
  }),
  union: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('a'), a: z.string() }),
    z.object({ kind: z.literal('b'), b: z.number().describe('how many') }),
  ]),
  intersection: z.intersection(
    z.object({ a: z.string() }),
    z.union([z.object({ b: z.number() }), z.object({ c: z.number() })]),
  ),
  recursive: Category,
  twice: z.object({ a: Category, b: Category }),
  json: z.object({ value: z.json() }),
  marked: z.object({
    a: z.string().readonly(),
    old: z.string().meta({ deprecated: true, examples: ['x'] }),
    named: z.string().meta({ id: 'Named' }),
  }),
};

const TYPEBOX: Readonly<Record<string, object>> = {
  recursive: Type.Recursive((This) => Type.Object({ id: Type.String(), nodes: Type.Array(This) }), { $id: 'Node' }),
  module: Type.Module({
    A: Type.Object({ b: Type.Ref('B') }),
    B: Type.Object({ a: Type.Optional(Type.Ref('A')) }),
  }).Import('A'),
  lists: Type.Object({
    pair: Type.Tuple([Type.String(), Type.Number()]),
    set: Type.Array(Type.String(), { uniqueItems: true, contains: Type.Literal('x'), minContains: 1 }),
  }),
  intersect: Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Number() })], {
    unevaluatedProperties: false,
  }),
  maps: Type.Object({
    record: Type.Record(Type.String(), Type.Number()),
    union: Type.Union([Type.Literal('a'), Type.Literal(1), Type.Null()]),
    enumeration: Type.Enum({ A: 1, B: 'b' }),
  }),
  odd: Type.Object({
    date: Type.Date(),
    big: Type.BigInt(),
    bytes: Type.Uint8Array({ maxByteLength: 10 }),
    never: Type.Never(),
    not: Type.Not(Type.String()),
    nothing: Type.Undefined(),
    any: Type.Any(),
  }),
  bounds: Type.Object({
    price: Type.Number({ exclusiveMinimum: 0, multipleOf: 2 }),
    email: Type.String({ format: 'email' }),
    on: Type.TemplateLiteral('on${A|B}'),
  }),
};

const pydantic = JSON.parse(golden('gemini/schemas/pydantic.json')) as Readonly<Record<string, object>>;

const TARGETS = ['draft-2020-12', 'draft-7', 'draft-4', 'openapi-3.0'] as const;
const PRINTED: readonly (readonly [name: string, schema: object])[] = [
  ...TARGETS.flatMap((target) =>
    Object.entries(ZOD).map(
      ([name, schema]) =>
        [`zod, ${target}, ${name}`, z.toJSONSchema(schema, { target, unrepresentable: 'any' })] as const,
    ),
  ),
  ...Object.entries(ZOD).map(
    ([name, schema]) => [`zod, references, ${name}`, z.toJSONSchema(schema, { reused: 'ref', io: 'input' })] as const,
  ),
  ...Object.entries(TYPEBOX).map(
    ([name, schema]) => [`typebox, ${name}`, JSON.parse(JSON.stringify(schema)) as object] as const,
  ),
  ...Object.entries(pydantic).map(([name, schema]) => [`pydantic, ${name}`, schema] as const),
];

describe('gemini, schemas as tools print them', () => {
  for (const [name, schema] of PRINTED) {
    it(`are taken by the service: ${name}`, async () => {
      const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } };
      const { body } = await sentBy(gemini, 'chat', {
        model: 'gemini-2.5-flash',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
        response_format,
      });
      const { parameters } = body.tools[0].functionDeclarations[0];
      expect(schemaProblems(parameters, 'parameters')).to.deep.equal([]);
      expect(schemaProblems(body.generationConfig.responseSchema, 'response_schema')).to.deep.equal([]);
      if (/^(?!pydantic, pets$)/.test(name)) expect(parameters.type).to.equal('object');
    });
  }

  it('say what they said', () => {
    const person = toVendorSchema(pydantic['person']) as any;
    const { properties } = person;
    expect(properties.age).to.deep.equal({
      type: 'integer',
      title: 'Age',
      description: '{exclusiveMaximum: 150, exclusiveMinimum: 0}',
    });
    expect(properties.level).to.deep.equal({ type: 'integer', title: 'Level', description: '{enum: [1,2]}' });
    expect(properties.color).to.deep.equal({ type: 'string', enum: ['red', 'blue'], title: 'Color', default: 'red' });
    expect(properties.work).to.deep.include({
      type: 'object',
      nullable: true,
      description: 'the office',
      default: null,
    });
    expect(properties.work.properties.zip).to.deep.equal({
      type: 'string',
      title: 'Zip',
      pattern: '^\\d{5}$',
      description: '{examples: ["12345"]}',
    });
    expect(properties.places.description).to.match(
      /^\{additionalProperties: \{"type":"object","properties":\{"street"/,
    );
    expect(person.required).to.deep.equal((pydantic['person'] as any).required);
    const pet = toParameters(pydantic['anyPet']) as any;
    expect(pet.properties.type).to.deep.equal({
      anyOf: [
        { type: 'string', title: 'Type', enum: ['cat'] },
        { type: 'string', title: 'Type', enum: ['dog'] },
      ],
    });
    const tree = toVendorSchema(pydantic['tree']) as any;
    expect(tree.properties.children.items).to.deep.equal({
      type: 'object',
      description: 'The same as "Tree", which this is part of.',
    });
  });
});

const NAMES = ['a', 'b', '__proto__', '$ref', 'type'];
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', 'any', 'STRING'];
const DATA: readonly unknown[] = [null, true, 0, 1, -2.5, 'x', '', [1], { a: 1 }];

/** A schema of any keywords with values that mostly, but not always, have the right form. */
function schemaOf(dice: Dice, depth: number): unknown {
  if (depth === 0 || dice.below(20) === 0)
    return dice.pick<unknown>([true, false, {}, { type: 'string' }, 7, null, { $ref: '#' }]);
  const inner = (): unknown => schemaOf(dice, depth - 1);
  const list = <T>(make: () => T): T[] => Array.from({ length: dice.below(4) }, make);
  const map = (): object => Object.fromEntries(list(() => [dice.pick(NAMES), inner()]));
  const MAKERS: readonly (readonly [string, () => unknown])[] = [
    ['type', () => (dice.below(5) > 0 ? dice.pick(TYPES) : list(() => dice.pick(TYPES)))],
    ['properties', map],
    ['required', () => list(() => dice.pick(NAMES))],
    ['items', () => (dice.below(5) > 0 ? inner() : list(inner))],
    ['prefixItems', () => list(inner)],
    ['anyOf', () => list(inner)],
    ['oneOf', () => list(inner)],
    ['allOf', () => list(inner)],
    ['not', inner],
    ['if', inner],
    ['enum', () => list(() => dice.pick(DATA))],
    ['const', () => dice.pick(DATA)],
    ['$ref', () => dice.pick(['#', '#/$defs/a', '#/$defs/b', '#/properties/a', 'Named', '#x', 'elsewhere', 7])],
    ['$defs', map],
    ['$id', () => 'Named'],
    ['minimum', () => dice.pick([1, 2.5, '3', null])],
    ['exclusiveMaximum', () => dice.pick([9, true])],
    ['minLength', () => dice.pick([0, 3, -1, 1.5])],
    ['maxItems', () => dice.pick([2, 'x'])],
    ['pattern', () => dice.pick(['^a', '(?=a)', 7])],
    ['format', () => dice.pick(['date-time', 'email', 'int32', 7])],
    ['nullable', () => dice.pick([true, false, 'x'])],
    ['description', () => dice.pick(['d', 7, ''])],
    ['title', () => dice.pick(['t', 7])],
    ['default', () => dice.pick(DATA)],
    ['additionalProperties', () => dice.pick([true, false, inner()])],
    ['patternProperties', map],
    ['propertyOrdering', () => list(() => dice.pick(NAMES))],
    ['x-own', () => dice.pick(DATA)],
  ];
  return Object.fromEntries(
    list(() => dice.pick(MAKERS))
      .concat(list(() => dice.pick(MAKERS)))
      .map(([name, make]) => [name, make()]),
  );
}

describe('gemini, any schema', () => {
  it('is taken by the service, and is not changed itself', () => {
    for (let seed = 1; seed <= cases(1500, 30); seed += 1) {
      const schema = schemaOf(new Dice(seed), 4);
      if (typeof schema !== 'object' || schema === null) continue;
      const before = JSON.stringify(schema);
      for (const convert of [toVendorSchema, toParameters])
        expect(schemaProblems(JSON.parse(JSON.stringify(convert(schema)))), `seed ${seed}: ${before}`).to.deep.equal(
          [],
        );
      expect(JSON.stringify(schema), `seed ${seed}`).to.equal(before);
    }
  });
});
