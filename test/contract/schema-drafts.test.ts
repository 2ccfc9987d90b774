import { createRequire } from 'node:module';
import { expect } from 'chai';
import { jsonSchema, type SchemaCheck } from 'gw/contract';
import { cases, expectProportion, seeded } from '../kit/index.ts';

const require = createRequire(import.meta.url);
const DRAFTS = {
  'http://json-schema.org/draft-07/schema#': 'ajv',
  'https://json-schema.org/draft/2019-09/schema': 'ajv/dist/2019.js',
  'https://json-schema.org/draft/2020-12/schema': 'ajv/dist/2020.js',
} as const;

type Pick = (below: number) => number;

/** A schema of a few levels whose keywords mean something to small values. */
function randomSchema(pick: Pick, depth: number, is2020: boolean): any {
  if (depth === 0 || pick(12) === 0) return pick(6) === 0 ? pick(2) === 0 : { type: TYPES[pick(TYPES.length)] };
  const inner = (): any => randomSchema(pick, depth - 1, is2020);
  const some = (): any[] => Array.from({ length: 1 + pick(3) }, inner);
  const table = (): any =>
    Object.fromEntries(Array.from({ length: 1 + pick(3) }, () => [NAMES[pick(NAMES.length)], inner()]));
  const makers: readonly (() => object)[] = [
    () => ({ type: pick(3) === 0 ? [TYPES[pick(3)], TYPES[3 + pick(4)]] : TYPES[pick(TYPES.length)] }),
    () => ({ properties: table() }),
    () => ({ properties: table(), additionalProperties: inner() }),
    () => ({ additionalProperties: false, properties: table() }),
    () => ({ patternProperties: { '^a': inner(), b$: inner() } }),
    () => ({ propertyNames: { maxLength: 1 + pick(2) } }),
    () => ({ required: [NAMES[pick(NAMES.length)]] }),
    () => ({ minProperties: pick(2), maxProperties: 1 + pick(3) }),
    () => ({ items: inner() }),
    () => (is2020 ? { prefixItems: some() } : { items: some() }),
    () => (is2020 ? { prefixItems: some(), items: inner() } : { items: some(), additionalItems: inner() }),
    () => ({ minItems: pick(3), maxItems: 1 + pick(3) }),
    () => ({ uniqueItems: true }),
    () => ({ allOf: some() }),
    () => ({ anyOf: some() }),
    () => ({ oneOf: some() }),
    () => ({ not: inner() }),
    () => ({ if: inner(), then: inner(), else: inner() }),
    () => ({ if: inner(), then: inner() }),
    () => ({ const: randomValue(pick, 1) }),
    () => ({ enum: [randomValue(pick, 1), randomValue(pick, 0), 1] }),
    () => ({ minimum: pick(3), exclusiveMaximum: 1 + pick(3) }),
    () => ({ multipleOf: 1 + pick(2) }),
    () => ({ minLength: pick(2), maxLength: 1 + pick(3) }),
    () => ({ pattern: ['^a', 'b$', 'x'][pick(3)] }),
    () => ({ dependencies: { a: ['b'], b: inner() } }),
    () => ({ $ref: `#/$defs/${NAMES[pick(2)]}` }),
  ];
  return Object.assign({}, ...Array.from({ length: 1 + pick(3) }, () => makers[pick(makers.length)]?.()));
}

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];
const NAMES = ['a', 'b', 'ab', 'c/d', 'e~'];

function randomValue(pick: Pick, depth: number): unknown {
  const choice = pick(depth === 0 ? 6 : 9);
  if (choice < 2) return [0, 1, 2, 1.5][pick(4)];
  if (choice < 4) return ['', 'a', 'ab', 'xb', '\u{1f600}'][pick(5)];
  if (choice === 4) return pick(2) === 0;
  if (choice === 5) return null;
  if (choice === 6) return Array.from({ length: pick(4) }, () => randomValue(pick, depth - 1));
  return Object.fromEntries(
    Array.from({ length: pick(4) }, () => [NAMES[pick(NAMES.length)], randomValue(pick, depth - 1)]),
  );
}

/** Where several schemas are tried, either may name the reason of any. */
const CHOICES = /"(?:if|not|oneOf|anyOf|uniqueItems)"/;

describe('a JSON Schema, beside another implementation', () => {
  for (const [$schema, library] of Object.entries(DRAFTS))
    it(`lets pass the same values, and names the same place and reason first: ${$schema}`, () => {
      const Ajv = require(library).default as new (options: object) => any;
      const next = seeded(77);
      const pick: Pick = (below) => Math.floor(next() * below);
      const is2020 = $schema.includes('2020');
      let wrong = 0;
      for (let round = 0; round < cases(1000); round += 1) {
        const schema = {
          $schema,
          ...randomSchema(pick, 3, is2020),
          $defs: { a: randomSchema(pick, 1, is2020), b: randomSchema(pick, 1, is2020) },
        };
        let ours: SchemaCheck;
        try {
          ours = jsonSchema(schema);
        } catch (error) {
          expect(error).to.have.property('message', 'schema refers to itself without an end');
          continue;
        }
        const theirs = new Ajv({ strict: false, validateFormats: false, logger: false, validateSchema: false }).compile(
          schema,
        );
        for (let value = 0; value < 12; value += 1) {
          const given = randomValue(pick, 3);
          let fits: boolean;
          try {
            fits = theirs(given) as boolean;
          } catch {
            continue; // its own code is at fault there
          }
          const [error] = (theirs.errors ?? []) as { instancePath: string; message: string }[];
          const what = `${JSON.stringify(schema)} and ${JSON.stringify(given)}`;
          const expected = fits ? undefined : { path: error?.instancePath || '/', message: error?.message };
          const found = ours(given);
          expect(found === undefined, what).to.equal(fits);
          if (found && !CHOICES.test(what)) expect(found, what).to.deep.equal(expected);
          if (!fits) wrong += 1;
        }
      }
      expect(wrong).to.be.above(50);
    });
});

describe('keywords of a JSON Schema', () => {
  const fits = (schema: object, ...values: readonly unknown[]): boolean[] => {
    const check = jsonSchema(schema);
    return values.map((value) => check(value) === undefined);
  };

  it('contains: how many items fit, and none of an empty list does', () => {
    const contains = { type: 'integer' };
    expect(fits({ contains }, [], ['a'], ['a', 1])).to.deep.equal([false, false, true]);
    expect(fits({ contains: false }, [], [1])).to.deep.equal([false, false]);
    expect(fits({ contains, minContains: 0 }, [], ['a'])).to.deep.equal([true, true]);
    expect(fits({ contains, minContains: 2, maxContains: 3 }, [1], [1, 2], [1, 2, 3, 4])).to.deep.equal([
      false,
      true,
      false,
    ]);
    expect(jsonSchema({ contains })([])).to.deep.equal({ path: '/', message: 'must contain at least 1 valid item(s)' });
  });

  it('what others have not looked at: by the ways that hold', () => {
    const either = {
      anyOf: [
        { properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'string' } }, required: ['b'] },
      ],
      unevaluatedProperties: false,
    };
    expect(fits(either, { a: 'x' }, { a: 'x', b: 'x' }, { a: 'x', b: 1 }, { a: 'x', c: 1 })).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    const list = {
      prefixItems: [{ type: 'string' }],
      allOf: [{ prefixItems: [true, { type: 'integer' }] }],
      unevaluatedItems: false,
    };
    expect(fits(list, ['a'], ['a', 1], ['a', 1, 2])).to.deep.equal([true, true, false]);
    expect(fits({ not: { properties: { a: true } }, unevaluatedProperties: false }, { a: 1 })).to.deep.equal([false]);
    expect(fits({ contains: { const: 1 }, unevaluatedItems: { type: 'string' } }, [1, 'a'], [1, 2])).to.deep.equal([
      true,
      false,
    ]);
  });

  it('dependentRequired, dependentSchemas, nullable and names that objects inherit', () => {
    expect(fits({ dependentRequired: { a: ['b', 'c'] } }, {}, { a: 1 }, { a: 1, b: 1, c: 1 })).to.deep.equal([
      true,
      false,
      true,
    ]);
    expect(fits({ dependentSchemas: { a: { minProperties: 2 } } }, {}, { a: 1 }, { a: 1, b: 1 })).to.deep.equal([
      true,
      false,
      true,
    ]);
    expect(fits({ type: 'string', nullable: true }, 'a', null, 1)).to.deep.equal([true, true, false]);
    expect(fits({ required: ['toString'] }, {}, { toString: 1 })).to.deep.equal([false, true]);
    expect(fits({ propertyNames: { pattern: '^a' } }, { ab: 1 }, { b: 1 })).to.deep.equal([true, false]);
  });
});

describe('a JSON Schema of any size', () => {
  const numbered = (count: number, make: (at: number) => object): Record<string, object> =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, make(at)]));
  const list = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
  const KINDS: Readonly<Record<string, (size: number) => object>> = {
    properties: (size) => ({ properties: numbered(size, () => ({ type: 'string' })) }),
    'patterns of names': (size) => ({ patternProperties: numbered(size, () => ({ type: 'string' })) }),
    choices: (size) => ({ oneOf: list(size, (at) => ({ const: at })) }),
    conditions: (size) => ({
      allOf: list(size, (at) => ({ if: { properties: { a: { const: at } } }, then: { required: ['b'] } })),
    }),
    definitions: (size) => ({
      $defs: numbered(size, () => ({ type: 'string' })),
      properties: numbered(size, (at) => ({ $ref: `#/$defs/p${at}` })),
    }),
    'a chain of definitions': (size) => ({
      $defs: numbered(size, (at) => ({ properties: { a: { $ref: `#/$defs/p${(at + 1) % size}` } } })),
      $ref: '#/$defs/p0',
    }),
    'what others have not looked at': (size) => ({
      allOf: list(size, (at) => ({ properties: { [`p${at}`]: { type: 'string' } } })),
      unevaluatedProperties: false,
    }),
    addresses: (size) => ({ $defs: numbered(size, (at) => ({ $id: `https://a.example/${at}`, type: 'string' })) }),
  };

  for (const [what, make] of Object.entries(KINDS))
    it(`compiles in time that is in proportion to it: ${what}`, async () => {
      await expectProportion(500, (size) => {
        const schema = make(size);
        return () => jsonSchema(schema);
      });
    });

  it('is refused where it would compare a value without end, or in too many ways', () => {
    expect(() => jsonSchema({ $ref: '#' })).to.throw('refers to itself without an end');
    expect(() =>
      jsonSchema({
        $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } },
        $ref: '#/$defs/a',
      }),
    ).to.throw('without an end');
    const doubling = {
      $defs: numbered(40, (at) => ({ allOf: [{ $ref: `#/$defs/p${at + 1}` }, { $ref: `#/$defs/p${at + 1}` }] })),
      $ref: '#/$defs/p0',
    };
    expect(() => jsonSchema({ ...doubling, $defs: { ...doubling.$defs, p40: {} } })).to.throw(
      'more than 10000 schemas',
    );
    const chain = {
      $defs: { ...numbered(5000, (at) => ({ $ref: `#/$defs/p${at + 1}` })), p5000: {} },
      $ref: '#/$defs/p0',
    };
    expect(() => jsonSchema(chain)).to.throw('one inside the other');
    const tree = {
      $defs: { a: { allOf: [1, 2].map(() => ({ properties: { x: { $ref: '#/$defs/a' } } })) } },
      $ref: '#/$defs/a',
    };
    let value: unknown = {};
    for (let level = 0; level < 60; level += 1) value = { x: value };
    expect(() => jsonSchema(tree)(value)).to.throw('too many ways');
  });

  it('is refused where it holds too many schemas', () => {
    expect(() => jsonSchema({ properties: numbered(19_000, () => ({})) })).not.to.throw();
    expect(() => jsonSchema({ properties: numbered(20_001, () => ({})) })).to.throw('more than 20000 schemas');
  });

  it('is refused where its patterns would compile to too much', () => {
    expect(() => jsonSchema({ anyOf: list(60, (at) => ({ pattern: `${at}[^a]{1000}` })) })).to.throw(
      'the limit is 50000',
    );
    expect(() => jsonSchema({ patternProperties: { ['[^a]{1000}'.repeat(60)]: true } })).to.throw('the limit is 50000');
  });

  it('resolves addresses, anchors and dynamic references', () => {
    const $schema = 'https://json-schema.org/draft/2020-12/schema';
    const book = {
      $schema,
      $id: 'https://a.example/book',
      $defs: {
        page: { $id: 'page', $anchor: 'it', type: 'string' },
        cover: { $anchor: 'cover', type: 'integer' },
      },
      properties: {
        a: { $ref: 'page' },
        b: { $ref: 'https://a.example/page#it' },
        c: { $ref: '#cover' },
        d: { $ref: '#/$defs/cover' },
      },
    };
    const check = jsonSchema(book);
    expect([
      check({ a: 'x', b: 'x', c: 1, d: 1 }),
      ...['a', 'b', 'c', 'd'].map((name) => check({ [name]: true })?.path),
    ]).to.deep.equal([undefined, '/a', '/b', '/c', '/d']);
    const tree = {
      $schema,
      $id: 'https://a.example/strict',
      $dynamicAnchor: 'node',
      $ref: 'tree',
      unevaluatedProperties: false,
      $defs: {
        tree: {
          $id: 'tree',
          $dynamicAnchor: 'node',
          properties: { data: true, children: { items: { $dynamicRef: '#node' } } },
        },
      },
    };
    const strict = jsonSchema(tree);
    expect([strict({ children: [{ data: 1 }] }), strict({ children: [{ daat: 1 }] })?.path]).to.deep.equal([
      undefined,
      '/children/0',
    ]);
  });
});
