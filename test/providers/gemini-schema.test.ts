import { expect } from 'chai';
import gemini from '../../providers/gemini/index.ts';
import { toParameters, toVendorSchema } from '../../providers/gemini/schema/index.ts';
import { sentBy } from '../kit/index.ts';
import { schemaProblems } from './gemini-strict.ts';

const REMOVED = ['$schema', '$id', '$ref', '$defs', '$comment', 'definitions', 'additionalProperties'];

/** The vendor's form of a schema, which must be one that the service takes. */
function vendor(schema: object): any {
  const converted = toVendorSchema(schema);
  expect(schemaProblems(converted), JSON.stringify(schema)).to.deep.equal([]);
  return converted;
}

const ANYTHING = {
  anyOf: [
    { type: 'string' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'object' },
    { type: 'array', items: { type: 'string' } },
  ],
  nullable: true,
};

describe('gemini, schemas', () => {
  it('lose what the vendor does not know, at every depth where a schema stands', () => {
    const junk = {
      $schema: 'x',
      $id: 'x',
      $comment: 'x',
      $ref: 'elsewhere.json',
      $defs: {},
      definitions: {},
      additionalProperties: false,
    };
    const leaf = { ...junk, type: 'string' };
    expect(
      vendor({
        ...junk,
        type: 'object',
        required: ['list'],
        properties: {
          list: { ...junk, type: 'array', items: leaf },
          either: { anyOf: [leaf, { ...junk, type: 'number' }] },
        },
      }),
    ).to.deep.equal({
      type: 'object',
      required: ['list'],
      properties: {
        list: { type: 'array', items: { type: 'string' } },
        either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
    });
  });

  it('keep properties that merely have the name of a keyword, and data as it is', () => {
    const properties = Object.fromEntries(
      [...REMOVED, 'const', 'oneOf', 'type', 'properties', '__proto__'].map((name) => [name, { type: 'string' }]),
    );
    const schema = {
      type: 'object',
      properties,
      default: { $ref: 1, additionalProperties: 2 },
      required: ['$ref', '__proto__'],
    };
    expect(vendor(schema)).to.deep.equal(schema);
  });

  it('tell in the description what the vendor has no field for', () => {
    const cases: readonly (readonly [keyword: string, value: unknown, type: string])[] = [
      ['exclusiveMinimum', 0, 'integer'],
      ['exclusiveMaximum', 10, 'number'],
      ['multipleOf', 0.5, 'number'],
      ['uniqueItems', true, 'array'],
      ['propertyNames', { pattern: '^a' }, 'object'],
      ['prefixItems', [{ type: 'string' }], 'array'],
      ['not', { const: 3 }, 'integer'],
      ['examples', ['a'], 'string'],
      ['contentEncoding', 'base64', 'string'],
      ['contentMediaType', 'image/png', 'string'],
      ['readOnly', true, 'string'],
      ['writeOnly', true, 'string'],
      ['deprecated', true, 'string'],
      ['patternProperties', { '^x': { type: 'string' } }, 'object'],
      ['additionalProperties', true, 'object'],
      ['additionalProperties', { type: 'integer' }, 'object'],
      ['contains', { const: 1 }, 'array'],
      ['minContains', 2, 'array'],
      ['dependentRequired', { a: ['b'] }, 'object'],
      ['if', { minLength: 2 }, 'string'],
      ['then', { pattern: 'x' }, 'string'],
      ['format', 'email', 'string'],
      ['format', 'uint32', 'integer'],
      ['pattern', '^(?!a)b', 'string'],
      ['pattern', '\\p{Emoji}', 'string'],
      ['minLength', '3', 'string'],
      ['x-note', 'mind the gap', 'string'],
    ];
    for (const [keyword, value, type] of cases) {
      const items = type === 'array' ? { items: { type: 'string' } } : {};
      const { description, ...rest } = vendor({ type, description: 'given', ...items, [keyword]: value });
      expect(description, keyword).to.equal(`given {${keyword}: ${JSON.stringify(value)}}`);
      expect(rest, keyword).to.deep.equal({ type, ...items });
    }
    expect(vendor({ type: 'integer', exclusiveMinimum: 0, multipleOf: 5 })).to.deep.equal({
      type: 'integer',
      description: '{exclusiveMinimum: 0, multipleOf: 5}',
    });
  });

  it('tell nothing of what is so anyway, or means nothing for the type', () => {
    const idle = {
      uniqueItems: false,
      deprecated: false,
      readOnly: false,
      additionalProperties: false,
      unevaluatedProperties: false,
      propertyNames: { type: 'string' },
      minLength: 3,
      minimum: 1,
    };
    expect(vendor({ type: 'boolean', ...idle })).to.deep.equal({ type: 'boolean' });
  });

  it('hold the fields that the vendor has', () => {
    const schemas = [
      {
        type: 'string',
        title: 't',
        description: 'd',
        minLength: 1,
        maxLength: 9,
        pattern: '^[a-z]+$',
        format: 'date-time',
        default: 'x',
        example: 'y',
        nullable: true,
      },
      { type: 'integer', minimum: -1, maximum: 9, format: 'int32' },
      { type: 'number', minimum: 0.5, format: 'double' },
      { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 2 },
      {
        type: 'object',
        properties: { b: { type: 'string' }, a: { type: 'string' } },
        propertyOrdering: ['a', 'b'],
        required: ['a'],
        minProperties: 1,
        maxProperties: 2,
      },
    ];
    for (const schema of schemas) expect(vendor(schema)).to.deep.equal(schema);
  });

  it('hold what their local references point at', () => {
    const schema = {
      type: 'object',
      $defs: {
        city: { type: 'string', minLength: 2, description: 'a city' },
        'a/b': { type: 'integer' },
        pair: { type: 'array', items: { $ref: '#/$defs/city' } },
        alias: { $ref: '#/$defs/city' },
        named: { $id: 'Named', type: 'boolean' },
        at: { $anchor: 'here', type: 'number' },
      },
      properties: {
        from: { $ref: '#/$defs/city' },
        to: { $ref: '#/$defs/city', description: 'where to' },
        days: { $ref: '#/$defs/a~1b' },
        via: { $ref: '#/$defs/pair' },
        alias: { $ref: '#/$defs/alias' },
        id: { $ref: 'Named' },
        anchor: { $ref: '#here' },
        longer: { $ref: '#/$defs/city', minLength: 5 },
        lost: { $ref: '#/$defs/none' },
      },
    };
    const city = { type: 'string', minLength: 2, description: 'a city' };
    expect(vendor(schema).properties).to.deep.equal({
      from: city,
      to: { ...city, description: 'where to' },
      days: { type: 'integer' },
      via: { type: 'array', items: city },
      alias: city,
      id: { type: 'boolean' },
      anchor: { type: 'number' },
      longer: { ...city, minLength: 5 },
      lost: ANYTHING,
    });
    const map = { type: 'object', additionalProperties: { $ref: '#/$defs/city' }, $defs: schema.$defs };
    expect(vendor(map)).to.deep.equal({
      type: 'object',
      description: '{additionalProperties: {"type":"string","minLength":2,"description":"a city"}}',
    });
  });

  it('end a circle of references where it closes', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/definitions/node' }, name: { type: 'string' } } };
    const next = { type: 'object', description: 'The same as "node", which this is part of.' };
    expect(vendor({ $ref: '#/definitions/node', definitions: { node } })).to.deep.equal({
      type: 'object',
      properties: { next, name: { type: 'string' } },
    });
    const self = { type: 'object', properties: { child: { $ref: '#' } } };
    expect(vendor(self)).to.deep.equal({
      type: 'object',
      properties: {
        child: {
          type: 'object',
          properties: { child: { type: 'object', description: 'The same as the whole, which this is part of.' } },
        },
      },
    });
    const nothing = { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' };
    expect(vendor(nothing)).to.deep.equal({ ...ANYTHING, description: 'The same as "a", which this is part of.' });
    vendor({ allOf: [{ $ref: '#' }], anyOf: [{ $ref: '#' }, { allOf: [{ $ref: '#' }] }] });
    vendor({
      $id: 'Self',
      additionalProperties: { $ref: 'Self' },
      not: { $ref: '#' },
      patternProperties: { x: { $ref: '#' } },
    });
  });

  it('say otherwise what the vendor has other words for', () => {
    const cases: readonly [object, object][] = [
      [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
      [{ type: ['string', 'integer', 'null'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }], nullable: true }],
      [
        { type: ['string', 'integer'], minLength: 2, minimum: 3, description: 'd' },
        {
          anyOf: [
            { type: 'string', minLength: 2 },
            { type: 'integer', minimum: 3 },
          ],
          description: 'd',
        },
      ],
      [{ type: 'STRING' }, { type: 'string' }],
      [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
      [
        { anyOf: [{ type: 'string', description: 'x' }, { type: 'null' }], title: 't' },
        { type: 'string', description: 'x', title: 't', nullable: true },
      ],
      [
        {
          anyOf: [
            { type: 'string', description: 'x', format: 'uuid' },
            { type: 'null', title: 'n' },
          ],
          description: 'y',
        },
        { type: 'string', description: 'y {format: "uuid"}', nullable: true },
      ],
      [
        { anyOf: [{ type: 'string' }, { type: 'number' }, { const: null }] },
        { anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true },
      ],
      [{ anyOf: [{ type: 'null' }] }, { type: 'null' }],
      [
        { type: 'string', format: 'email' },
        { type: 'string', description: '{format: "email"}' },
      ],
      [{ type: 'array' }, { type: 'array', items: ANYTHING }],
      [
        { type: 'array', items: [{ type: 'string' }, { type: 'number' }], additionalItems: false },
        {
          type: 'array',
          items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
          description: '{prefixItems: [{"type":"string"},{"type":"number"}]}',
        },
      ],
      [
        { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
        {
          type: 'array',
          items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
          description: '{prefixItems: [{"type":"string"}]}',
        },
      ],
      [
        { type: 'number', minimum: 3, exclusiveMinimum: true },
        { type: 'number', minimum: 3, description: '{exclusiveMinimum: true}' },
      ],
      [
        { type: 'object', required: ['a', 'b', 'a'], properties: { a: { type: 'string' } } },
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], description: '{required: ["b"]}' },
      ],
      [
        { type: 'Date', description: 'd' },
        { ...ANYTHING, description: 'd {type: "Date"}' },
      ],
      [{}, ANYTHING],
      [{ description: 'd' }, { ...ANYTHING, description: 'd' }],
      [{ not: {} }, { ...ANYTHING, description: '{not: {}}' }],
      [
        { anyOf: [{ type: 'string' }, { type: 'number' }], discriminator: { propertyName: 'k', mapping: {} } },
        { anyOf: [{ type: 'string' }, { type: 'number' }], description: '{discriminator: "k"}' },
      ],
    ];
    for (const [given, expected] of cases) expect(vendor(given), JSON.stringify(given)).to.deep.equal(expected);
  });

  it('list permitted values as texts, and tell those that are none', () => {
    const cases: readonly [object, object][] = [
      [{ const: 'a' }, { type: 'string', enum: ['a'] }],
      [{ enum: ['a', 'b', 'a'] }, { type: 'string', enum: ['a', 'b'] }],
      [{ enum: ['a', null] }, { type: 'string', enum: ['a'], nullable: true }],
      [
        { type: 'string', enum: [1, 2] },
        { type: 'string', enum: ['1', '2'] },
      ],
      [
        { type: 'string', enum: ['', 'a'] },
        { type: 'string', description: '{enum: ["","a"]}' },
      ],
      [
        { type: 'integer', enum: [1, 2, null] },
        { type: 'integer', nullable: true, description: '{enum: [1,2]}' },
      ],
      [{ enum: [1, 2] }, { type: 'integer', description: '{enum: [1,2]}' }],
      [{ enum: [1, 2.5] }, { type: 'number', description: '{enum: [1,2.5]}' }],
      [
        { type: 'number', enum: [1] },
        { type: 'number', description: '{enum: [1]}' },
      ],
      [
        { type: 'boolean', const: true },
        { type: 'boolean', description: '{enum: [true]}' },
      ],
      [{ const: null }, { type: 'null' }],
      [
        { enum: ['a', 1, null] },
        {
          anyOf: [
            { type: 'string', enum: ['a'] },
            { type: 'integer', description: '{enum: [1]}' },
          ],
          nullable: true,
        },
      ],
      [{ enum: [{ a: 1 }] }, { type: 'object', description: '{enum: [{"a":1}]}' }],
    ];
    for (const [given, expected] of cases) expect(vendor(given), JSON.stringify(given)).to.deep.equal(expected);
  });

  it('hold together what must hold together', () => {
    const cases: readonly [object, object][] = [
      [
        { allOf: [{ type: 'string' }], description: 'x' },
        { type: 'string', description: 'x' },
      ],
      [
        {
          allOf: [
            { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
            { type: 'object', properties: { b: { type: 'number' } }, required: ['b'] },
          ],
        },
        { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a', 'b'] },
      ],
      [
        { allOf: [{ type: 'number', minimum: 1 }, { type: 'integer', minimum: 3, maximum: 9 }, { maximum: 7 }] },
        { type: 'integer', minimum: 3, maximum: 7 },
      ],
      [
        { allOf: [{ properties: { a: { minLength: 1 } } }, { properties: { a: { type: 'string', minLength: 4 } } }] },
        { type: 'object', properties: { a: { type: 'string', minLength: 4 } } },
      ],
      [{ allOf: [{ enum: ['a', 'b'] }, { enum: ['b', 'c'] }] }, { type: 'string', enum: ['b'] }],
      [
        { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'b$' }] },
        { type: 'string', pattern: '^a', description: '{allOf: [{"pattern":"b$"}]}' },
      ],
      [
        { allOf: [{ type: 'string' }, { type: 'number' }] },
        { type: 'string', description: '{allOf: [{"type":"number"}]}' },
      ],
      [
        { type: 'object', properties: { a: { type: 'string' } }, anyOf: [{ required: ['a'] }, { minProperties: 2 }] },
        {
          type: 'object',
          properties: { a: { type: 'string' } },
          description: '{any of: [{"required":["a"]},{"minProperties":2}]}',
        },
      ],
      [
        {
          type: 'object',
          properties: { a: { type: 'string' } },
          oneOf: [{ properties: { b: { type: 'string' } } }, { properties: { c: { type: 'string' } } }],
        },
        {
          anyOf: [
            { type: 'object', properties: { b: { type: 'string' }, a: { type: 'string' } } },
            { type: 'object', properties: { c: { type: 'string' }, a: { type: 'string' } } },
          ],
        },
      ],
    ];
    for (const [given, expected] of cases) expect(vendor(given), JSON.stringify(given)).to.deep.equal(expected);
  });

  it('come back unchanged when they are not objects', () => {
    for (const value of [null, undefined, 7, 'x', true, [{ $ref: 'x' }]])
      expect([toVendorSchema(value), toParameters(value)]).to.deep.equal([value, value]);
  });

  it('are not changed themselves', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/$defs/x', type: ['string', 'null'] } },
      $defs: { x: { const: 1 } },
      allOf: [{ required: ['a'] }],
    };
    const before = structuredClone(schema);
    toVendorSchema(schema);
    expect(schema).to.deep.equal(before);
  });
});

describe('gemini, schemas beyond all measure', () => {
  it('follow fewer references where following all would multiply them', () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [
        `d${n}`,
        {
          type: 'object',
          description: `level ${n}`,
          properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } },
        },
      ]),
    );
    const converted = vendor({ $ref: '#/$defs/d0', $defs: doubling });
    expect(converted.properties.a.properties.b.description).to.equal('level 2');
    expect(JSON.stringify(converted)).to.include('The same as \\"d').and.to.have.length.below(200_000);
  });

  it('do not repeat a long text without end', () => {
    const $defs = { long: { type: 'string', description: 'x'.repeat(100_000) } };
    const properties = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`p${n}`, { $ref: '#/$defs/long' }]));
    expect(JSON.stringify(vendor({ type: 'object', properties, $defs }))).to.have.length.below(2_000_000);
    const alternatives = Array.from({ length: 5000 }, (_, n) => ({ properties: { [`p${n}`]: { type: 'string' } } }));
    expect(() => toVendorSchema({ type: 'object', properties: { a: $defs.long }, anyOf: alternatives })).to.throw(
      '20000',
    );
  });

  it('share what following references may cost among the tools of a request', async () => {
    const doubling = Object.fromEntries(
      Array.from({ length: 14 }, (_, n) => [
        `d${n}`,
        { type: 'object', properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } },
      ]),
    );
    const parameters = { type: 'object', properties: { start: { $ref: '#/$defs/d0' } }, $defs: doubling };
    const tools = Array.from({ length: 200 }, (_, n) => ({
      type: 'function',
      function: { name: `f${n}`, parameters },
    }));
    const { body } = await sentBy(gemini, 'chat', {
      model: 'gemini-2.5-flash',
      messages: [{ role: 'user', content: 'hi' }],
      tools,
    });
    const { functionDeclarations: declared } = body.tools[0];
    expect(declared[0].parameters.properties.start.properties.a.properties).to.have.all.keys('a', 'b');
    expect(declared[199].parameters.properties.start).to.deep.equal({
      type: 'object',
      description: 'The same as "d0".',
    });
  });

  it('are refused when they are too large by themselves', () => {
    let deep: object = { type: 'string' };
    for (let level = 0; level < 5000; level += 1) deep = { type: 'array', items: deep };
    expect(() => toVendorSchema(deep)).to.throw('200');
    let nested: object = { type: 'string' };
    for (let level = 0; level < 5000; level += 1) nested = { allOf: [nested] };
    expect(() => toVendorSchema(nested)).to.throw('200');
    expect(() =>
      toVendorSchema({
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [`p${n}`, {}])),
      }),
    ).to.throw('20000');
  });
});

describe('gemini, parameters of functions', () => {
  const cat = {
    type: 'object',
    properties: { kind: { const: 'cat' }, lives: { type: 'integer' } },
    required: ['kind', 'lives'],
  };
  const dog = {
    type: 'object',
    properties: { kind: { const: 'dog' }, tricks: { type: 'array', items: { type: 'string' } } },
    required: ['kind'],
    description: 'a dog',
  };

  it('are one object, also where they are alternatives', () => {
    const converted = toParameters({ oneOf: [cat, dog], description: 'a pet' });
    expect(schemaProblems(converted)).to.deep.equal([]);
    expect(converted).to.deep.equal({
      type: 'object',
      required: ['kind'],
      description:
        'a pet {one of: [{"properties":["kind","lives"],"required":["kind","lives"]},{"description":"a dog","properties":["kind","tricks"],"required":["kind"]}]}',
      properties: {
        kind: { type: 'string', enum: ['cat', 'dog'] },
        lives: { type: 'integer' },
        tricks: { type: 'array', items: { type: 'string' } },
      },
    });
  });

  it('of any kind are an object without a word of what is in it', () => {
    expect(toParameters({ description: 'whatever' })).to.deep.equal({
      type: 'object',
      description: 'whatever',
      properties: {},
    });
    expect(toParameters({ anyOf: [cat, { type: 'object', properties: { lives: { type: 'string' } } }] }))
      .to.have.nested.property('properties.lives')
      .that.deep.equals({ anyOf: [{ type: 'integer' }, { type: 'string' }] });
  });
});
