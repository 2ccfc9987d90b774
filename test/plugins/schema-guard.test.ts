import { expect } from 'chai';
import schemaGuard from '../../plugins/schema-guard.ts';
import { jsonSchema } from 'gw/contract';
import { validateJson } from '../cli/commands.ts';
import { expectProportion } from '../kit/index.ts';
import { cut, delivered, entry, error, scene, verdicts } from './guardrail-kit.ts';

const schema = {
  type: 'object',
  required: ['name'],
  properties: {
    name: { type: 'string', pattern: '^[A-Z]' },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
  },
};
const at = (more: object = {}): { config: object; stages: string[] } => ({
  config: { schema, ...more },
  stages: ['after_request'],
});
const refused = (reason: string): unknown[] => [
  502,
  'response_rejected',
  `response rejected by schema-guard (after_request): ${reason}`,
];

describe('schema-guard', () => {
  it('has three settings', () => {
    expect(Object.keys(schemaGuard.settings.describe()['keys'] as object)).to.deep.equal([
      'schema',
      'observe',
      'stream',
    ]);
    expect(schemaGuard.stages).to.deep.equal(['after_request']);
  });

  for (const [text, reason] of [
    ['{"name":"Ann","tags":["a","b"]}', undefined],
    ['  {"name":"Ann"} ', undefined],
    ['plain words', 'answer is not JSON'],
    ['', 'answer is not JSON'],
    ['```json\n{"name":"Ann"}\n```', 'answer is not JSON'],
    ['{}', "answer does not match the schema at /: must have required property 'name'"],
    ['{"name":7}', 'answer does not match the schema at /name: must be string'],
    ['{"name":"ann"}', 'answer does not match the schema at /name: must match pattern "^[A-Z]"'],
    ['{"name":"Ann","tags":["a",{"x":1}]}', 'answer does not match the schema at /tags/1: must be string'],
    ['{"name":"Ann","tags":["a","a"]}', 'answer does not match the schema at /tags: must NOT have equal items'],
    ['[]', 'answer does not match the schema at /: must be object'],
  ] as const) {
    it(`${reason === undefined ? 'lets pass' : 'refuses'} ${JSON.stringify(text)}`, async () => {
      const answer = await (await scene('schema-guard', { ...at(), says: { content: [text] } })).chat('x');
      if (reason === undefined) expect(answer.status).to.equal(200);
      else expect(error(answer)).to.deep.equal(refused(reason));
    });
  }

  it('leaves turns alone that only call tools', async () => {
    expect((await (await scene('schema-guard', { ...at(), says: { arguments: ['{}'] } })).chat('x')).status).to.equal(
      200,
    );
    expect(
      (await (await scene('schema-guard', { ...at(), says: { content: ['words'], arguments: ['{}'] } })).chat('x'))
        .status,
    ).to.equal(502);
  });

  it('in streams: end after the text, window before any of it, clean answers whole', async () => {
    const bad = { content: cut('{"name": 7}', 3) };
    const end = delivered(await (await scene('schema-guard', { ...at(), says: bad })).chat('x', { stream: true }));
    expect([end.content, end.last.error.message]).to.deep.equal([
      '{"name": 7}',
      'response rejected by schema-guard (after_request): answer does not match the schema at /name: must be string',
    ]);
    const window = delivered(
      await (await scene('schema-guard', { ...at({ stream: 'window' }), says: bad })).chat('x', { stream: true }),
    );
    expect([window.content, window.last.error.code]).to.deep.equal(['', 'stream_error']);
    const answer = await (
      await scene('schema-guard', { ...at({ stream: 'window' }), says: { content: cut('{"name": "Ann"}', 3) } })
    ).chat('x', { stream: true });
    expect([
      delivered(answer).content,
      delivered(answer).last,
      answer.events().at(-2).usage.total_tokens,
    ]).to.deep.equal(['{"name": "Ann"}', '[DONE]', 2]);
    const watching = await scene('schema-guard', { ...at({ stream: 'window', observe: true }), says: bad });
    expect([delivered(await watching.chat('x', { stream: true })).content, verdicts(watching)]).to.deep.equal([
      '{"name": 7}',
      [['after_request', 'observed']],
    ]);
  });

  it('is refused at validation in front of the request, and with a schema that is none', async () => {
    const validate = (stage: string, config: object) =>
      validateJson({ targets: [{ virtual_key: 'echo' }], plugins: [entry('schema-guard', stage, config)] });
    const before = await validate('before_request', { schema });
    expect([before.code, /schema-guard.*after_request/.test(before.stderr)]).to.deep.equal([1, true]);
    for (const config of [
      { schema: { type: 'nonsense' } },
      { schema: { properties: [] } },
      { schema: { $ref: 'https://elsewhere.example/schema' } },
      { schema: { pattern: '(?=x)' } },
      { schema: { requiredd: ['a'] } },
      { schema: 'text' },
      {},
    ]) {
      const { code, stderr } = await validate('after_request', config);
      expect([code, /plugin "schema-guard": setting schema/.test(stderr)], JSON.stringify(config)).to.deep.equal([
        1,
        true,
      ]);
    }
    expect((await validate('after_request', { schema })).code).to.equal(0);
  });
});

describe('a JSON Schema', () => {
  it('keeps its patterns apart', () => {
    const check = jsonSchema({ properties: { a: { pattern: '^a$' }, b: { pattern: '^b$' } } });
    expect([check({ a: 'a', b: 'b' }), check({ a: 'b' })?.path, check({ b: 'a' })?.path]).to.deep.equal([
      undefined,
      '/a',
      '/b',
    ]);
  });

  it('is of the draft that it names', () => {
    const pair = { type: 'array', items: [{ type: 'string' }], additionalItems: false };
    for (const draft of ['http://json-schema.org/draft-07/schema#', 'http://json-schema.org/draft-06/schema#'])
      expect(jsonSchema({ $schema: draft, ...pair })([7])?.path).to.equal('/0');
    expect(jsonSchema({ $schema: 'https://json-schema.org/draft/2019-09/schema', ...pair })(['a'])).to.equal(undefined);
    expect(jsonSchema({ type: 'array', prefixItems: [{ type: 'string' }] })([7])?.path).to.equal('/0');
    expect(() => jsonSchema(pair)).to.throw();
    expect(jsonSchema({ type: 'string', format: 'email', title: 't', examples: ['x'] })('not one')).to.equal(undefined);
    expect(jsonSchema({ uniqueItems: false })([1, 1])).to.equal(undefined);
    expect(
      jsonSchema({ uniqueItems: true })([
        { a: 1, b: [2] },
        { b: [2], a: 1 },
      ])?.path,
    ).to.equal('/');
  });

  it('may refer to itself as a whole, name a property twice and hold what has no effect: cases of the JSON Schema Test Suite', () => {
    for (const draft of ['http://json-schema.org/draft-07/schema#', 'https://json-schema.org/draft/2020-12/schema']) {
      const tree = jsonSchema({ $schema: draft, properties: { foo: { $ref: '#' } }, additionalProperties: false });
      expect([tree({ foo: { foo: false } }), tree({ foo: { bar: false } })?.path]).to.deep.equal([undefined, '/foo']);
      const both = jsonSchema({
        $schema: draft,
        properties: { foo: { maxItems: 3 } },
        patternProperties: { 'f.o': { minItems: 2 } },
        additionalProperties: { type: 'integer' },
      });
      expect([
        both({ foo: [1, 2] }),
        both({ foo: [] })?.path,
        both({ foo: [1, 2, 3, 4] })?.path,
        both({ bar: 'x' })?.path,
      ]).to.deep.equal([undefined, '/foo', '/foo', '/bar']);
      expect(jsonSchema({ $schema: draft, then: { const: 1 }, 'x-note': 'of its author' })(2)).to.equal(undefined);
      expect(() => jsonSchema({ $schema: draft, requird: ['a'] })).to.throw('unknown keyword: "requird"');
    }
    expect(
      jsonSchema({
        $schema: 'http://json-schema.org/draft-07/schema#',
        items: { type: 'integer' },
        additionalItems: false,
      })([1, 2]),
    ).to.equal(undefined);
  });

  it('takes time in proportion to the value', async () => {
    const check = jsonSchema({ type: 'array', uniqueItems: true, items: { type: 'object' } });
    await expectProportion(2000, (size) => {
      const value = Array.from({ length: size }, (_none, at) => ({ at }));
      return () => check(value);
    });
    const pattern = jsonSchema({ type: 'string', pattern: '^(a+)+$' });
    await expectProportion(10_000, (size) => () => pattern(`${'a'.repeat(size)}b`));
  });
});
