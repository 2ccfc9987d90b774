import { expect } from 'chai';
import { toVendorSchema } from '../../providers/gemini/schema.ts';

const REMOVED = ['$schema', '$id', '$ref', '$defs', '$comment', 'definitions', 'additionalProperties'];

describe('gemini, schemas', () => {
  it('lose what the vendor does not know, at every depth where a schema stands', () => {
    const junk = { $schema: 'x', $id: 'x', $comment: 'x', $ref: 'elsewhere.json', $defs: {}, definitions: {}, additionalProperties: false };
    const leaf = { ...junk, type: 'string' };
    expect(toVendorSchema({
      ...junk, type: 'object', required: ['list'],
      properties: { list: { ...junk, type: 'array', items: leaf }, either: { anyOf: [leaf, { ...junk, type: 'number' }] } },
    })).to.deep.equal({
      type: 'object', required: ['list'],
      properties: { list: { type: 'array', items: { type: 'string' } }, either: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
    });
  });

  it('keep properties that merely have the name of a keyword, and data as it is', () => {
    const properties = Object.fromEntries([...REMOVED, 'const', 'oneOf', 'type', 'properties', '__proto__'].map((name) => [name, { type: 'string' }]));
    const schema = { type: 'object', properties, default: { $ref: 1, additionalProperties: 2 }, required: ['$ref'] };
    expect(toVendorSchema(schema)).to.deep.equal(schema);
  });

  it('hold what their local references point at', () => {
    const schema = {
      type: 'object', $defs: { city: { type: 'string', minLength: 2, description: 'a city' }, 'a/b': { type: 'integer' }, pair: { type: 'array', items: { $ref: '#/$defs/city' } } },
      properties: { from: { $ref: '#/$defs/city' }, to: { $ref: '#/$defs/city', description: 'where to' }, days: { $ref: '#/$defs/a~1b' }, via: { $ref: '#/$defs/pair' }, lost: { $ref: '#/$defs/none' } },
    };
    expect(toVendorSchema(schema)).to.deep.equal({
      type: 'object',
      properties: {
        from: { type: 'string', minLength: 2, description: 'a city' }, to: { type: 'string', minLength: 2, description: 'where to' }, days: { type: 'integer' },
        via: { type: 'array', items: { type: 'string', minLength: 2, description: 'a city' } }, lost: {},
      },
    });
  });

  it('end a circle of references where it closes', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/definitions/node' }, name: { type: 'string' } } };
    expect(toVendorSchema({ $ref: '#/definitions/node', definitions: { node } })).to.deep.equal({
      type: 'object', properties: { next: {}, name: { type: 'string' } },
    });
    const self = { type: 'object', properties: { child: { $ref: '#' } } };
    expect(toVendorSchema(self)).to.deep.equal({ type: 'object', properties: { child: { type: 'object', properties: { child: {} } } } });
  });

  it('say otherwise what the vendor has other words for', () => {
    const cases: readonly [object, object][] = [
      [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
      [{ type: ['string', 'integer', 'null'] }, { anyOf: [{ type: 'string' }, { type: 'integer' }], nullable: true }],
      [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, { anyOf: [{ type: 'string' }, { type: 'number' }] }],
      [{ anyOf: [{ type: 'string', description: 'x' }, { type: 'null' }], title: 't' }, { type: 'string', description: 'x', title: 't', nullable: true }],
      [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] }, { anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true }],
      [{ allOf: [{ type: 'string' }], description: 'x' }, { type: 'string', description: 'x' }],
      [{ const: 'a' }, { type: 'string', enum: ['a'] }],
      [{ type: 'integer', enum: [1, 2, null] }, { type: 'integer', enum: ['1', '2'], nullable: true }],
      [{ type: 'boolean', const: true }, { type: 'boolean' }],
      [{ type: 'string', format: 'email' }, { type: 'string' }],
      [{ type: 'string', format: 'date-time' }, { type: 'string', format: 'date-time' }],
      [{ type: 'integer', format: 'int32' }, { type: 'integer', format: 'int32' }],
    ];
    for (const [given, expected] of cases) expect(toVendorSchema(given), JSON.stringify(given)).to.deep.equal(expected);
  });

  it('come back unchanged when they are no objects', () => {
    for (const value of [null, undefined, 7, 'x', true, [{ $ref: 'x' }]]) expect(toVendorSchema(value)).to.equal(value);
  });

  it('are refused beyond all measure, references followed', () => {
    const doubling = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`d${n}`, { type: 'object', properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } } }]));
    expect(() => toVendorSchema({ $ref: '#/$defs/d0', $defs: doubling })).to.throw('20000');
    let deep: object = { type: 'string' };
    for (let level = 0; level < 5000; level += 1) deep = { type: 'array', items: deep };
    expect(() => toVendorSchema(deep)).to.throw('200');
  });

  it('are not changed themselves', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/$defs/x', type: ['string', 'null'] } }, $defs: { x: { const: 1 } } };
    const before = structuredClone(schema);
    toVendorSchema(schema);
    expect(schema).to.deep.equal(before);
  });
});
