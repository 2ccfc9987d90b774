import { expect } from 'chai';
import { commonTranslators } from 'gw/common-wire';
import {
  type Answer,
  chatReply,
  forSuite,
  openSse,
  replyJson,
  some,
  sseEvent,
  startHost,
  type StubHandler,
  stubUpstream,
  type TestHost,
} from '../kit/index.ts';
import { PASSED } from '../money/route-limits.ts';
import { everySurface } from '../surfaces/kit.ts';
import { eventText, type VendorEvent, vendorMessage } from '../wires/messages-kit.ts';
import { CANARY, CHAT, EMBED, GENERATE, type Json, MESSAGES, REQUESTS, RESPONSE } from './canary-kit.ts';

/**
 * Names of members that a guardrail looks for: one is put into each object of each request, and in the place of each value, as a sentence
 * and, where a client chooses all names, as a word. None of them reaches an upstream, on any surface, whatever the target speaks.
 */
const WORD = 'thecanarysings';
const guarded = (stage: string, more: object = {}): object => ({
  name: 'regex-guard',
  stage,
  enabled: true,
  config: { patterns: [CANARY, WORD], ...more },
});

/** A schema with everything that gives names, at several depths. */
const SCHEMA: Json = {
  type: 'object',
  description: 'text',
  required: ['a'],
  properties: {
    a: { type: 'string', enum: ['text'] },
    deep: { type: 'object', properties: { b: { type: 'string' } } },
    list: { type: 'array', items: { type: 'object', properties: { c: { type: 'string' } } } },
  },
  patternProperties: { '^x': { type: 'object', properties: { d: { type: 'string' } } } },
  $defs: { e: { type: 'object', definitions: { f: {} } } },
  definitions: { g: { anyOf: [{ properties: { h: {} } }] } },
  dependentSchemas: { a: { properties: { i: {} } } },
  dependentRequired: { a: ['deep'] },
  dependencies: { a: ['deep'] },
  allOf: [{ if: { properties: { a: {} } }, then: { properties: { j: {} } } }],
  additionalProperties: { properties: { k: {} } },
  default: { l: { m: 'text' } },
  examples: [{ n: 'text' }],
};
const HOLDERS: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'schema', 'responseJsonSchema']);

/** The body with that schema wherever one stands. */
function withSchemas(value: unknown): any {
  if (Array.isArray(value)) return value.map(withSchemas);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, HOLDERS.has(name) ? SCHEMA : withSchemas(member)]),
  );
}

interface Variant {
  /** Path of the object that gets the name. */
  readonly place: string;
  readonly body: (name: string) => unknown;
}

/** Each object with one more member, each value with an object in its place, and the same inside arguments that are a JSON text. */
function* variants(value: unknown, place = ''): Generator<Variant> {
  if (typeof value === 'string' && value.startsWith('{'))
    for (const { place: at, body } of variants(JSON.parse(value), place))
      yield { place: at, body: (name) => JSON.stringify(body(name)) };
  if (place !== '') yield { place: `${place} instead`, body: (name) => ({ [name]: 'x' }) };
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const inner of variants(item, `${place}[${at}]`))
        yield { ...inner, body: (name) => value.with(at, inner.body(name)) };
  } else if (typeof value === 'object' && value !== null) {
    yield { place, body: (name) => ({ ...value, [name]: { type: 'string' } }) };
    yield { place, body: (name) => ({ [name]: 1, ...value }) };
    for (const [member, held] of Object.entries(value))
      for (const inner of variants(held, place === '' ? member : `${place}.${member}`))
        yield { ...inner, body: (name) => ({ ...value, [member]: inner.body(name) }) };
  }
}

const TABLE = /\.(properties|patternProperties|\$defs|definitions|dependentSchemas|dependentRequired|dependencies)$/;
/** Members below which the client chooses every name: data in schemas, arguments, what is only forwarded. */
const FREE =
  /(^|[.\]])(default|examples|only_forwarded|only_here|novelty|metadata|labels|args|response|arguments)(\.|\[|$)|tool_use|\.content\[3\]\.input(\.|$)/;

interface Asked {
  readonly wire: string;
  readonly target: string;
  readonly path: string;
  readonly body: Json;
  /** Below which members clients choose all names; those of tables are, everywhere. */
  readonly free?: RegExp;
}

const asked = (wire: string, path: string, body: Json, targets: readonly string[] = ['m']): Asked[] =>
  targets.map((target) => ({
    wire,
    target,
    path: path.replace('MODEL', target),
    body: 'model' in body ? { ...body, model: target } : body,
  }));

/** `m` has the common wire, the others that of their vendor; `own` serves the Responses API itself. */
const REQUESTED: readonly Asked[] = [
  ...asked('chat', '/v1/chat/completions', withSchemas(CHAT), ['m', 'claude', 'gemini']),
  ...asked('Messages', '/v1/messages', withSchemas(MESSAGES), ['claude', 'm', 'gemini']),
  ...asked('Messages', '/v1/messages/count_tokens', withSchemas(MESSAGES), ['claude', 'm']),
  ...asked('Gemini', '/v1beta/models/MODEL:generateContent', withSchemas(GENERATE), ['gemini', 'm', 'claude']),
  ...asked('Gemini', '/v1beta/models/MODEL:countTokens', { generateContentRequest: withSchemas(GENERATE) }, [
    'gemini',
    'm',
  ]),
  ...asked('Gemini', '/v1beta/models/MODEL:embedContent', EMBED, ['gemini', 'm']),
  ...asked('Responses', '/v1/responses', withSchemas(RESPONSE), ['own', 'm', 'claude']),
  ...['compact', 'input_tokens'].flatMap((name) =>
    asked('Responses', `/v1/responses/${name}`, withSchemas(RESPONSE), ['own']),
  ),
  ...asked('pass-through', '/v1/fine_tuning/jobs', withSchemas({ ...RESPONSE, model: 'own' }), ['own']).map((one) => ({
    ...one,
    free: /./,
  })),
  ...Object.entries(REQUESTS)
    .filter(([path]) => !/chat|messages|responses/.test(path))
    .flatMap(([path, body]) =>
      PASSED.some((one) => one.test(path)) || path === '/v1/images/edits' // as JSON
        ? asked('pass-through', path, body, ['own']).map((each) => ({ ...each, free: /./ }))
        : asked('other', path, body),
    ),
];

/** A gateway with a target for each wire, all of which one stub plays. */
async function gateway(
  handler: StubHandler,
  plugins: readonly object[],
): Promise<{ host: TestHost; reached: (name: string) => boolean }> {
  const upstream = await stubUpstream(handler);
  const targets = [
    { virtual_key: 'anthropic', models: ['claude'] },
    { virtual_key: 'gemini', models: ['gemini'] },
    upstream.target(
      'a',
      {},
      {
        ...everySurface,
        translators: commonTranslators(['chat', 'embeddings', 'images', 'audio.speech', 'rerank', 'moderations'], {}),
      },
    ),
    upstream.target('o', { models: ['own'] }, { passthrough: true, responses: 'native' }),
  ];
  const host = await startHost(
    { strategy: { mode: 'fallback' }, targets, plugins, responses: { translate: 'auto' } },
    {
      variables: {
        ANTHROPIC_API_KEY: 'vendor-key-0123456789',
        ANTHROPIC_BASE_URL: `${upstream.url}/v1`,
        GEMINI_API_KEY: 'vendor-key',
        GEMINI_BASE_URL: `${upstream.url}/v1beta`,
      },
      isLenient: true,
    },
  );
  const reached = (name: string): boolean =>
    upstream.seen.splice(0).some(({ text }) => text.includes(name) || text.includes(escaped(name)));
  return { host, reached };
}

const escaped = (text: string): string =>
  Array.from(text, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');

/** What an upstream of any wire answers. */
const fine: StubHandler = (seen, response) => {
  const url = seen.url ?? '';
  if (url.includes('/messages/count_tokens')) replyJson(response, 200, { input_tokens: 1 });
  else if (url.includes('/messages')) replyJson(response, 200, vendorMessage([{ type: 'text', text: 'a' }]));
  else if (url.includes('/v1beta/'))
    replyJson(response, 200, {
      candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
      totalTokens: 1,
      embedding: { values: [1] },
      embeddings: [{ values: [1] }],
    });
  else if (url.includes('/embeddings'))
    replyJson(response, 200, { object: 'list', data: [{ object: 'embedding', embedding: [1], index: 0 }], model: 'm' });
  else
    replyJson(response, 200, {
      ...chatReply('a'),
      data: [{ url: 'https://h/' }],
      results: [{ index: 0, relevance_score: 1, flagged: false }],
    });
};

const isRefused = ({ status, text }: Answer): boolean =>
  status === 400 && text.includes('rejected by regex-guard (before_request)');

describe('a name that a guardrail looks for', () => {
  const setup = forSuite(() => gateway(fine, [guarded('before_request')]));

  for (const { wire, target, path, body, free = FREE } of REQUESTED) {
    const all = [...variants(body)];

    it(`is refused wherever it stands in a request, or is not sent: ${wire}, ${path}, to ${target}`, async () => {
      const { host, reached } = setup();
      expect(isRefused(await host.post(path, body))).to.equal(false);
      reached('');
      let refused = 0;
      for (const { place, body: make } of some(
        all,
        all.length > 100 ? { every: 60, from: target.length } : { every: 1 },
      )) {
        for (const text of [
          JSON.stringify(make(CANARY)),
          JSON.stringify(make(CANARY)).replaceAll(CANARY, escaped(CANARY)),
        ]) {
          const answer = await host.post(path, text);
          expect(reached(CANARY), `${place}: ${answer.text}`).to.equal(false);
          if (isRefused(answer)) refused += 1;
        }
      }
      expect(refused).to.be.above(0);
    });

    const chosen = all.filter(({ place }) => !place.endsWith(' instead') && (TABLE.test(place) || free.test(place)));
    if (chosen.length > 0) {
      it(`is refused as a word where the client chooses all names: ${wire}, ${path}, to ${target}`, async () => {
        const { host, reached } = setup();
        for (const { place, body: make } of some(chosen, { every: 9 })) {
          for (const text of [JSON.stringify(make(WORD)), JSON.stringify(make(WORD)).replaceAll(WORD, escaped(WORD))]) {
            const answer = await host.post(path, text);
            expect(isRefused(answer), `${place}: ${answer.status} ${answer.text}`).to.equal(true);
            expect(reached(WORD), place).to.equal(false);
          }
        }
      });
    }
  }

  const MAIL = 'jane@example.com';
  const SECRET = 'AKIAIOSFODNN7EXAMPLE';
  const masking = forSuite(() =>
    gateway(fine, [
      { name: 'pii-redact', stage: 'before_request', enabled: true, config: {} },
      { name: 'secret-scan', stage: 'before_request', enabled: true, config: { action: 'mask' } },
    ]),
  );
  for (const { wire, target, path, body } of REQUESTED) {
    it(`is refused where it cannot be masked: ${wire}, ${path}, to ${target}`, async () => {
      const { host, reached } = masking();
      const tables = [...variants(body)].filter(({ place }) => TABLE.test(place));
      for (const { place, body: make } of some([...variants(body)], { every: 36 }).concat(
        some(tables, { every: 12 }),
      )) {
        const name = place.length % 2 === 0 ? MAIL : SECRET;
        const answer = await host.post(path, make(name));
        expect(reached(name), place).to.equal(false);
        if (TABLE.test(place))
          expect(
            [
              answer.status,
              /rejected by (pii-redact|secret-scan) .* found(?: where it|, which) cannot be masked/.test(answer.text),
            ],
            `${place}: ${answer.text}`,
          ).to.deep.equal([400, true]);
      }
    });
  }
});

const ORDINARY = [
  'id',
  'phone',
  'phone_number',
  'email',
  'emailAddress',
  'password',
  'api_key',
  'apiKey',
  'secret',
  'token',
  'access_token',
  'ssn',
  'card_number',
  'iban',
  'ip',
  'ip_address',
  'system',
  'instructions',
  'ignore',
  'prompt',
  'previous_instructions',
  'systemPrompt',
  'role',
  'user',
  'assistant',
  'jailbreak',
  'numberOfResultsPerPage',
  'UPPER_CASE_CONSTANT',
  'x-request-id',
  'getUserByIdV2Handler',
  'customer.address.line1',
  '^[a-z]{2}-\\d{4}$',
  '2026-01-01',
  'a1b2c3d4-e5f6-7890-abcd-ef1234567890',
  'total (USD)',
  'Prénom',
  '日付',
];

describe('names that say nothing', () => {
  const all = ['pii-redact', 'secret-scan', 'prompt-shield'].map((name) => ({
    name,
    stage: 'before_request',
    enabled: true,
    config: {},
  }));
  const setup = forSuite(() => gateway(fine, all));
  const named: Json = Object.fromEntries(ORDINARY.map((name) => [name, { type: 'string' }]));
  const schema = { type: 'object', properties: named, required: ['id'] };

  it('pass every guardrail, wherever they stand', async () => {
    const { host } = setup();
    const chat = {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      metadata: named,
    };
    const messages = {
      model: 'claude',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: named }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
      ],
      tools: [{ name: 'f', input_schema: schema }],
    };
    const gemini = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] }],
    };
    const responses = {
      model: 'own',
      input: 'hi',
      tools: [{ type: 'function', name: 'f', parameters: schema }],
      metadata: named,
    };
    for (const [path, body] of [
      ['/v1/chat/completions', chat],
      ['/v1/messages', messages],
      ['/v1beta/models/gemini:generateContent', gemini],
      ['/v1/responses', responses],
      ['/v1/fine_tuning/jobs', responses],
    ] as const) {
      const answer = await host.post(path, body);
      expect([answer.status, answer.text.includes('rejected by')], `${path}: ${answer.text}`).to.deep.equal([
        200,
        false,
      ]);
    }
  });
});

/** What a model writes for a tool. */
const ARGUMENTS: readonly (readonly [string, string])[] = [
  ['a sentence', JSON.stringify({ a: [{ [CANARY]: 1 }] })],
  ['a word', JSON.stringify({ [WORD]: { b: 'c' } })],
  ['a sentence in escapes', `{"a":{"${escaped(CANARY)}":1}}`],
  ['a word in escapes', `{"${escaped(WORD)}":null}`],
];

/** A call of a tool, as the upstreams of each wire write it, whole and streamed. */
function calling(json: string): StubHandler {
  const pieces = json.match(/[^]{1,7}/g) ?? [];
  return (seen, response) => {
    const url = seen.url ?? '';
    const gemini = `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${json}}}]},"finishReason":"STOP"}]}`;
    const isStream = url.includes('alt=sse') || (url.includes('v1beta') ? false : seen.json()['stream'] === true);
    const block = { type: 'tool_use', id: 'toolu_1', name: 'f' };
    if (!isStream) {
      const whole = url.includes('/v1beta/')
        ? gemini
        : url.includes('/messages')
          ? JSON.stringify(vendorMessage([{ ...block, input: '@' }], { stop_reason: 'tool_use' })).replace('"@"', json)
          : JSON.stringify({
              ...chatReply(''),
              choices: [
                {
                  index: 0,
                  message: {
                    role: 'assistant',
                    content: null,
                    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: json } }],
                  },
                  finish_reason: 'tool_calls',
                },
              ],
            });
      response.writeHead(200, { 'content-type': 'application/json' }).end(whole);
      return;
    }
    openSse(response);
    if (url.includes('/v1beta/')) response.end(`data: ${gemini}\r\n\r\n`);
    else if (url.includes('/messages')) {
      const events: readonly VendorEvent[] = [
        { type: 'message_start', message: vendorMessage([], { stop_reason: null }) },
        { type: 'content_block_start', index: 0, content_block: { ...block, input: {} } },
        ...pieces.map((partial_json) => ({
          type: 'content_block_delta',
          index: 0,
          delta: { type: 'input_json_delta', partial_json },
        })),
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ];
      response.end(events.map(eventText).join(''));
    } else {
      const chunk = (delta: object, finish_reason: string | null = null): object => ({
        id: 'x',
        choices: [{ index: 0, delta, finish_reason }],
      });
      const chunks = [
        chunk({
          role: 'assistant',
          tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }],
        }),
        ...pieces.map((piece) => chunk({ tool_calls: [{ index: 0, function: { arguments: piece } }] })),
        chunk({}, 'tool_calls'),
      ];
      response.end([...chunks, '[DONE]'].map(sseEvent).join(''));
    }
  };
}

const MESSAGE = { messages: [{ role: 'user', content: 'hi' }] };
const CLIENTS: readonly (readonly [
  wire: string,
  path: (model: string, streams: boolean) => string,
  body: (model: string, stream: boolean) => object,
])[] = [
  ['chat', () => '/v1/chat/completions', (model, stream) => ({ model, stream, ...MESSAGE })],
  ['Messages', () => '/v1/messages', (model, stream) => ({ model, stream, max_tokens: 64, ...MESSAGE })],
  [
    'Gemini',
    (model, streams) => `/v1beta/models/${model}:${streams ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
  ],
  [
    'Responses',
    () => '/v1/responses',
    (model, stream) => ({ model, stream, input: 'hi', tools: [{ type: 'function', name: 'f', parameters: {} }] }),
  ],
];

describe('a name in the arguments of a call', () => {
  for (const [wire, path, body] of CLIENTS) {
    for (const target of ['m', 'claude', 'gemini']) {
      it(`is refused in an answer, whole and streamed: ${wire}, from ${target}`, async () => {
        let json = '{"a":1}';
        const handler: StubHandler = (seen, response) => calling(json)(seen, response);
        const ends = await gateway(handler, [guarded('after_request')]);
        const holds = await gateway(handler, [guarded('after_request', { stream: 'window' })]);
        const ask = ({ host }: { host: TestHost }, stream: boolean): Promise<Answer> =>
          host.post(path(target, stream), body(target, stream));
        for (const stream of [false, true])
          expect((await ask(ends, stream)).text, 'plain').to.not.include('rejected by');
        for (const [what, written] of ARGUMENTS) {
          json = written;
          const whole = await ask(ends, false);
          expect(
            [whole.status, whole.text.includes('rejected by regex-guard (after_request)')],
            `${what}: ${whole.text}`,
          ).to.deep.equal([502, true]);
          expect((await ask(ends, true)).text, what).to.include('rejected by regex-guard (after_request)');
          const held = await ask(holds, true);
          expect(
            [
              held.text.includes('rejected by regex-guard (after_request)'),
              held.text.includes('sings'),
              held.text.includes(escaped('sings')),
            ],
            `${what}: ${held.text}`,
          ).to.deep.equal([true, false, false]);
        }
      });
    }
  }
});
