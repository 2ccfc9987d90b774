import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { GatewayError, type ProviderModule, quoted, type TranslatedSurface } from '../../host/contract/index.ts';
import { ROUTES, sentBy, some, startHost, stubUpstream } from '../kit/index.ts';
import { everySurface } from '../surfaces/kit.ts';

const LONG = 'x'.repeat(10_000);
/** Longest message of a refusal, and longest log line that tells of one. */
const MOST_IN_MESSAGE = 700;
const MOST_IN_LINE = 3000;

/** Requests that hold something of everything a surface knows. */
const FULL: Readonly<Partial<Record<TranslatedSurface, object>>> = {
  chat: {
    model: 'm',
    stream: false,
    user: 'u',
    stop: ['s'],
    tool_choice: { type: 'function', function: { name: 'f' } },
    reasoning_effort: 'low',
    modalities: ['text'],
    service_tier: 'auto',
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'n',
        schema: { type: 'object', properties: { a: { type: 'string', enum: ['b'] } }, required: ['a'] },
      },
    },
    tools: [
      {
        type: 'function',
        function: {
          name: 'f',
          description: 'd',
          parameters: { type: 'object', properties: { a: { type: 'string' } } },
        },
      },
    ],
    logit_bias: { 1: 1 },
    seed: 1,
    temperature: 1,
    n: 1,
    metadata: { a: 'b' },
    messages: [
      { role: 'system', content: 'be brief' },
      {
        role: 'user',
        name: 'n',
        content: [
          { type: 'text', text: 'hi' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'image_url', image_url: { url: 'https://h/a.png' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'done' },
      { role: 'user', content: 'go on' },
    ],
  },
  embeddings: {
    model: 'm',
    input: ['hi'],
    encoding_format: 'float',
    dimensions: 1,
    input_type: 'search_query',
    user: 'u',
  },
  images: { model: 'm', prompt: 'hi', size: '1x1', quality: 'q', style: 's', response_format: 'url', n: 1, user: 'u' },
  rerank: { model: 'm', query: 'hi', documents: ['hi'], top_n: 1, return_documents: true },
  moderations: { model: 'm', input: ['hi'] },
  'audio.speech': { model: 'm', input: 'hi', voice: 'v', response_format: 'mp3', instructions: 'i', speed: 1 },
};

/** The value with one part of it replaced by a long one, for every part: values by long texts, and long names beside names. */
function* stretched(value: unknown): Generator {
  yield LONG;
  yield [LONG];
  yield { [LONG]: LONG };
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) for (const one of stretched(item)) yield value.with(at, one);
    return;
  }
  if (typeof value !== 'object' || value === null) {
    if (typeof value === 'string')
      for (const text of [`${value}${LONG}`, `data:${LONG};base64,AAAA`, `data:image/${LONG};base64,AAAA`]) yield text;
    return;
  }
  yield { ...value, [LONG]: 1 };
  for (const [name, member] of Object.entries(value)) {
    for (const one of stretched(member)) yield { ...value, [name]: one };
    yield Object.fromEntries(Object.entries(value).map(([other, kept]) => [other === name ? LONG : other, kept]));
  }
}

const providers = MODULES.filter((module): module is ProviderModule => module.kind === 'provider');

describe('what a client sent stands in messages', () => {
  it('in quotation marks, and in part', () => {
    expect(quoted('a "b"\n')).to.equal('"a \\"b\\"\\n"');
    expect(quoted('x'.repeat(64))).to.equal(`"${'x'.repeat(64)}"`);
    expect(quoted(`a ${'x'.repeat(64)}`), 'no half words, which may be credentials').to.equal('"a …"');
    expect(quoted('x'.repeat(65))).to.equal('"…"');
    expect([[], {}, null, undefined, 1.5, true].map(quoted)).to.deep.equal([
      'a list',
      'an object',
      'null',
      'undefined',
      '1.5',
      'true',
    ]);
  });

  for (const [surface, request] of Object.entries(FULL)) {
    it(`in part only, whatever is long: ${surface}`, async function longParts() {
      this.timeout(60_000);
      const upstream = await stubUpstream((_request, response) => {
        response.writeHead(500).end();
      });
      const path = ROUTES[surface as keyof typeof ROUTES] ?? expect.fail('no route');
      const variables = { GEMINI_API_KEY: 'a-credential', GEMINI_BASE_URL: upstream.url };
      for (const target of [upstream.target('a', {}, everySurface), { virtual_key: 'gemini', models: ['m'] }]) {
        const t = await startHost(
          { strategy: { mode: 'single' }, targets: [target], compatibility: { on_unsupported_param: 'reject' } },
          { variables },
        );
        for (const body of some([...stretched(request)], { every: 6 })) {
          const answer = await t.post(path, body);
          expect(answer.status).to.be.above(399);
          expect(answer.json().error.message.length, answer.text.slice(0, 300)).to.be.below(MOST_IN_MESSAGE);
          for (const line of t.lines)
            expect(JSON.stringify(line).length, String(line['msg'])).to.be.below(MOST_IN_LINE);
          t.lines.length = 0;
        }
      }
    });
  }

  for (const [where, headers] of Object.entries({
    'X-Gateway-Metadata': { 'x-gateway-metadata': JSON.stringify({ ['x'.repeat(4000)]: {} }) },
  })) {
    it(`in part only, whatever is long: ${where}`, async () => {
      const upstream = await stubUpstream(() => {});
      const t = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')] });
      const answer = await t.post(
        '/v1/chat/completions',
        { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
        headers,
      );
      expect(answer.status).to.equal(400);
      expect(answer.json().error.message).to.have.length.below(MOST_IN_MESSAGE);
    });
  }

  for (const [at, module] of providers.entries()) {
    it(`in part only when ${module.name} refuses it`, async function refusing() {
      this.timeout(60_000);
      for (const surface of Object.keys(module.translators) as TranslatedSurface[]) {
        for (const body of some([...stretched(FULL[surface] ?? {})], { every: 5, from: at % 5 })) {
          const error = await sentBy(module, surface, body as never).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          if (error instanceof GatewayError)
            expect(error.message.length, error.message.slice(0, 300)).to.be.below(MOST_IN_MESSAGE);
        }
      }
    });
  }
});

describe('paths and methods in messages', () => {
  it('are known ones', async () => {
    const upstream = await stubUpstream(() => {});
    const t = await startHost({ strategy: { mode: 'single' }, targets: [upstream.target('a')] });
    for (const [method, path] of [
      ['GET', `/v1/models/${LONG}`],
      ['PUT', `/v1/models/${LONG}`],
      ['GET', `/v1/${LONG}`],
      ['PROPFIND', `/${LONG}`],
      ['DELETE', `/v1/chat/completions?${LONG}`],
    ] as const) {
      expect((await t.request(method, path)).text, `${method} ${path.slice(0, 40)}`).to.have.length.below(
        MOST_IN_MESSAGE,
      );
    }
    for (const line of t.lines) expect(JSON.stringify(line).length, String(line['msg'])).to.be.below(MOST_IN_LINE);
  });
});
