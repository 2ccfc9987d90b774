import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { dashboardTypes, typeOf } from '../../builtins/openapi/build/dashboard-types.ts';

const FILE = new URL('../../builtins/dashboard/app/src/api/answers.ts', import.meta.url);

describe("the dashboard's types of answers", () => {
  it('are those of the schemas; else run "npm run dashboard-types"', () => {
    expect(dashboardTypes()).to.equal(readFileSync(FILE, 'utf8'));
  });

  it('follow each form of a schema', () => {
    const forms: readonly (readonly [schema: object, type: string])[] = [
      [{ $ref: '#/components/schemas/Key' }, 'Key'],
      [{ type: 'integer' }, 'number'],
      [{ type: 'string', format: 'date-time' }, 'string'],
      [{ type: ['number', 'null'] }, 'number | null'],
      [{ type: 'array', items: { enum: ['a', 'b'] } }, "readonly ('a' | 'b')[]"],
      [{ const: "it's" }, String.raw`'it\'s'`],
      [{ type: 'object' }, 'Readonly<Record<string, unknown>>'],
      [{ type: 'object', additionalProperties: { type: 'boolean' } }, '{\nreadonly [name: string]: boolean;\n}'],
      [{}, 'unknown'],
      [
        { type: ['object', 'null'], required: ['a'], properties: { a: { type: 'string', description: 'A' }, b: {} } },
        '{\n/** A. */\nreadonly a: string;\nreadonly b?: unknown;\n} | null',
      ],
    ];
    for (const [schema, type] of forms) expect(typeOf({ ...schema }), JSON.stringify(schema)).to.equal(type);
  });

  it('are not made of a schema of an unknown form', () => {
    expect(() => typeOf({ oneOf: [] })).to.throw('there is no type for {"oneOf":[]}');
  });
});
