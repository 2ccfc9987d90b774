import { expect } from 'chai';
import { fromJsonSchema, fromVendorSchema } from '../../../builtins/wires/gemini/request/schema.ts';

describe('schemas of Gemini clients', () => {
  for (const [given, expected] of [
    [{ type: 'STRING' }, { type: 'string' }],
    [
      { type: 'ARRAY', items: { type: 'INTEGER', minimum: 1 }, minItems: '2', max_items: '3' },
      { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, maxItems: 3 },
    ],
    [
      { type: 'STRING', nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ anyOf: [{ type: 'STRING' }], nullable: true }, { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    [
      {
        type: 'OBJECT',
        properties: { type: { type: 'STRING' }, nullable: { type: 'BOOLEAN' }, max_items: { type: 'NUMBER' } },
        required: ['type'],
        property_ordering: ['type'],
        example: {},
      },
      {
        type: 'object',
        properties: { type: { type: 'string' }, nullable: { type: 'boolean' }, max_items: { type: 'number' } },
        required: ['type'],
      },
    ],
    [
      { type: 'STRING', format: 'date-time', description: 'STRING', default: 'OBJECT' },
      { type: 'string', format: 'date-time', description: 'STRING', default: 'OBJECT' },
    ],
  ] as const)
    it(`are read: ${JSON.stringify(given)}`, () => {
      expect(fromVendorSchema(given, 'at')).to.deep.equal(expected);
    });

  for (const [given, expected] of [
    [
      {
        $schema: 'x',
        type: 'OBJECT',
        $defs: { a: { type: 'STRING' } },
        properties: { a: { $ref: '#/$defs/a' } },
        additionalProperties: false,
      },
      {
        $schema: 'x',
        type: 'object',
        $defs: { a: { type: 'string' } },
        properties: { a: { $ref: '#/$defs/a' } },
        additionalProperties: false,
      },
    ],
    [
      { type: ['STRING', 'NULL'], example: 1, additionalProperties: { type: 'NUMBER' }, allOf: [{ type: 'OBJECT' }] },
      { type: ['string', 'null'], example: 1, additionalProperties: { type: 'number' }, allOf: [{ type: 'object' }] },
    ],
  ] as const)
    it(`are read as JSON Schema: ${JSON.stringify(given)}`, () => {
      expect(fromJsonSchema(given, 'at')).to.deep.equal(expected);
    });

  it('may be nested a hundred levels deep', () => {
    const nested = (levels: number): object =>
      levels === 1 ? { type: 'STRING' } : { type: 'ARRAY', items: nested(levels - 1) };
    expect(() => fromVendorSchema(nested(100), 'at')).to.not.throw();
    expect(() => fromVendorSchema(nested(101), 'at')).to.throw('at is nested deeper than 100 levels');
    expect(() => fromJsonSchema(nested(101), 'at')).to.throw('at is nested deeper than 100 levels');
  });
});
