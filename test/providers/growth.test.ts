import { expect } from 'chai';
import type { ChatRequest, ProviderModule } from 'gw/contract';
import anthropic from '../../providers/anthropic/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import cohere from '../../providers/cohere/index.ts';
import gemini from '../../providers/gemini/index.ts';
import replicate from '../../providers/replicate/index.ts';
import { callFor, expectProportion, type Prepare, relayStream, some, sseBytes, translateReply } from '../kit/index.ts';
import { outcomeOf } from '../kit/provider-case.ts';

const call = callFor('m');

function translated(module: ProviderModule, model: string, request: object): any {
  const wire = module.translators.chat?.toUpstream({ model, ...request } as ChatRequest, callFor(model));
  return wire?.body;
}

/** Runs on an input that is made beforehand. */
const on =
  <T>(make: (size: number) => T, run: (input: T) => unknown): Prepare =>
  (size) => {
    const input = make(size);
    return () => run(input);
  };

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** Those that turn many messages into fewer turns, or look something up in earlier ones. */
const CONVERSATIONS: Readonly<Record<string, (size: number) => object[]>> = {
  'messages of one role': (size) => times(size, () => ({ role: 'user', content: [{ type: 'text', text: 'x' }] })),
  'calls and results': (size) =>
    times(size, (at) =>
      at % 2
        ? { role: 'tool', tool_call_id: `c${at - 1}`, content: '{}' }
        : {
            role: 'assistant',
            tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'f', arguments: '{}' } }],
          },
    ),
};

const WIRES: readonly (readonly [module: ProviderModule, model: string])[] = [
  [anthropic, 'claude-sonnet-4-5'],
  [gemini, 'gemini-3-pro'],
  [cohere, 'command-a-03-2025'],
  [replicate, 'a/b'],
  [bedrock, 'anthropic.claude-sonnet-4-5-v1:0'],
  [bedrock, 'amazon.nova-lite-v1:0'],
  [bedrock, 'meta.llama3-8b-instruct-v1:0'],
  [bedrock, 'amazon.titan-text-express-v1'],
  [bedrock, 'mistral.mistral-large'],
];

describe('a request of native wires takes work in proportion', () => {
  for (const [at, [what, make]] of Object.entries(CONVERSATIONS).entries()) {
    const wires = WIRES.filter(([, name]) => /^claude|gemini|nova/.test(name));
    for (const [module, model] of some(wires, { from: at })) {
      it(`${what}: ${module.name}, ${model}`, () =>
        expectProportion(
          8000,
          on(make, (messages) => translated(module, model, { messages })),
        ));
    }
  }

  for (const [module, model] of WIRES.filter(([, name]) => /gemini|nova/.test(name)))
    it(`calls that share an id, and their results: ${module.name}, ${model}`, () => {
      const shared = (size: number): object[] => [
        {
          role: 'assistant',
          tool_calls: times(size, () => ({ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } })),
        },
        ...times(size, () => ({ role: 'tool', tool_call_id: 'c', content: '{}' })),
      ];
      return expectProportion(
        16_000,
        on(shared, (messages) => translated(module, model, { messages })),
        16_000,
      );
    });

  it('when there are more parts than a call takes arguments', () => {
    const many = times(300_000, () => ({ type: 'text', text: 'x' }));
    for (const [at, [module, model]] of WIRES.entries()) {
      for (const role of some(['user', 'system'], { every: 2, from: at % 2 })) {
        const body = translated(module, model, {
          messages: [
            { role, content: 'x' },
            { role, content: many },
            { role: 'user', content: 'x' },
          ],
        });
        expect(JSON.stringify(body).length, `${module.name}, ${model}`).to.be.above(300_000);
      }
    }
  });

  it('when an address is nothing but a head', () => {
    for (const head of [';', ' ', ';base64', ';;base64 ']) {
      const url = `data:image/png${head.repeat(3_000_000 / head.length)}`;
      for (const [module, model] of WIRES.filter(([, name]) => /claude|gemini|nova/.test(name))) {
        for (const part of [
          { type: 'image_url', image_url: { url } },
          { type: 'file', file: { file_data: url } },
        ]) {
          const refused = outcomeOf(() => translated(module, model, { messages: [{ role: 'user', content: [part] }] }));
          expect(refused, `${module.name}, ${part.type}`).to.have.property('code', 'invalid_request');
        }
      }
    }
  });
});

describe('a schema takes work in proportion', function schemas() {
  this.timeout(60_000);

  const schemaOf = (schema: object): object => ({
    messages: [{ role: 'user', content: 'x' }],
    response_format: { type: 'json_schema', json_schema: { name: 's', schema } },
  });
  const deep = (levels: number, inner: object): object =>
    levels === 0 ? inner : { type: 'object', properties: { a: deep(levels - 1, inner) } };

  it('whose references stand deep inside, for Claude', async () => {
    const make = (size: number): object =>
      schemaOf({
        ...deep(50, { anyOf: times(size, () => ({ $ref: '#/$defs/a' })) }),
        $defs: { a: { type: 'string' } },
      });
    await expectProportion(
      8000,
      on(make, (request) => translated(anthropic, 'claude-sonnet-4-5', request)),
    );
  });

  for (const [what, definition] of some([
    ['members', Object.fromEntries(times(20_000, (at) => [`x-${at}`, 1]))],
    ['values', { enum: times(50_000, String) }],
    ['data', { default: { text: 'x'.repeat(500_000) } }],
  ] as const)) {
    it(`whose references would bring too much of their ${what}, for Gemini`, async () => {
      const make = (size: number): object =>
        schemaOf({
          type: 'object',
          properties: Object.fromEntries(times(size, (at) => [`p${at}`, { $ref: '#/$defs/a' }])),
          $defs: { a: definition },
        });
      await expectProportion(
        1000,
        on(make, (request) => translated(gemini, 'gemini-3-pro', request)),
        5000,
      );
      expect(JSON.stringify(translated(gemini, 'gemini-3-pro', make(5000))).length).to.be.below(2_000_000);
    });
  }
});

describe('the tools of a request', () => {
  it('bring no more by the references of all their schemas than one request may, for Gemini', () => {
    const parameters = {
      type: 'object',
      properties: Object.fromEntries(times(20, (at) => [`p${at}`, { $ref: '#/$defs/a' }])),
      $defs: { a: { type: 'string', default: 'x'.repeat(10_000) } },
    };
    const tools = times(400, (at) => ({ type: 'function', function: { name: `f${at}`, parameters } }));
    const sent = translated(gemini, 'gemini-3-pro', { messages: [{ role: 'user', content: 'x' }], tools });
    expect(JSON.stringify(sent)).to.have.length.within(1_000_000, 6_000_000);
  });
});

describe('an answer of Gemini takes work in proportion', () => {
  const answer =
    (part: (index: number) => object) =>
    (size: number): object => ({ candidates: [{ content: { parts: times(size, part) }, finishReason: 'STOP' }] });
  for (const [what, part] of some<readonly [string, () => object]>(
    [
      ['calls', () => ({ functionCall: { name: 'f', args: {} } })],
      ['signatures', () => ({ text: 'x', thoughtSignature: 's' })],
      ['images', () => ({ inlineData: { mimeType: 'image/png', data: 'AAAA' } })],
      ['thoughts', () => ({ text: 'x', thought: true })],
    ],
    { every: 4, from: 1 },
  )) {
    it(`of many ${what}, whole`, () =>
      expectProportion(
        8000,
        on(
          (size) => JSON.stringify(answer(part)(size)),
          (body) => translateReply(gemini, call, body),
        ),
        32_000,
      ));
  }

  it('of many calls, streamed', async () => {
    const pieces = (size: number): Buffer[] =>
      times(size / 1000, () => sseBytes([answer(() => ({ functionCall: { name: 'f', args: {} } }))(1000)]));
    await expectProportion(
      4000,
      on(pieces, (bytes) => relayStream(gemini, call, bytes)),
    );
  });
});
