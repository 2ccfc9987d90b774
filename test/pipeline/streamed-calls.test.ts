import { expect } from 'chai';
import OpenAI from 'openai';
import { CallNumbers } from '../../host/answer/call-numbers.ts';
import { Relay } from '../../host/answer/relay.ts';
import { CommonStream } from '../../host/wire/common-wire.ts';
import {
  ask,
  chatReply,
  eventsOf,
  everyCut,
  expectProportion,
  MASTER_KEY,
  openSse,
  replyJson,
  sseBytes,
  startHost,
  stubUpstream,
} from '../kit/index.ts';
import { withUpstream } from '../surfaces/kit.ts';

type Call = Readonly<Record<string, unknown>>;

const head = (id: unknown, name: string, more: Call = {}): Call => ({
  ...more,
  id,
  type: 'function',
  function: { name, arguments: '' },
});
const piece = (text: string, more: Call = {}): Call => ({ ...more, function: { arguments: text } });

/** Two calls, `tide {"a":1}` and `wind {"b":2}`, as servers tell their fragments apart. */
const STYLES: Readonly<Record<string, readonly Call[]>> = {
  'numbered from 0': [
    head('c1', 'tide', { index: 0 }),
    piece('{"a":', { index: 0 }),
    piece('1}', { index: 0 }),
    head('c2', 'wind', { index: 1 }),
    piece('{"b":2}', { index: 1 }),
  ],
  'numbered from 1': [
    head('c1', 'tide', { index: 1 }),
    piece('{"a":', { index: 1 }),
    piece('1}', { index: 1 }),
    head('c2', 'wind', { index: 2 }),
    piece('{"b":2}', { index: 2 }),
  ],
  'without an index': [head('c1', 'tide'), piece('{"a":'), piece('1}'), head('c2', 'wind'), piece('{"b":2}')],
  'whole, without an index': [
    { ...head('c1', 'tide'), function: { name: 'tide', arguments: '{"a":1}' } },
    { id: 'c2', function: { name: 'wind', arguments: '{"b":2}' } },
  ],
  'all with the index 0': [
    head('c1', 'tide', { index: 0 }),
    piece('{"a":1}', { index: 0 }),
    head('c2', 'wind', { index: 0 }),
    piece('{"b":2}', { index: 0 }),
  ],
  'with their id on every fragment': [
    head('c1', 'tide'),
    piece('{"a":', { id: 'c1' }),
    piece('1}', { id: 'c1' }),
    head('c2', 'wind'),
    piece('{"b":2}', { id: 'c2' }),
  ],
  'with a new id on every fragment': [
    head('c1', 'tide', { index: 0 }),
    piece('{"a":', { index: 0, id: 'x1' }),
    piece('1}', { index: 0, id: 'x2' }),
    head('c2', 'wind', { index: 1 }),
    piece('{"b":2}', { index: 1, id: 'x3' }),
  ],
  'with all of it on every fragment': [
    head('c1', 'tide', { index: 0 }),
    { ...head('c1', 'tide', { index: 0 }), function: { name: 'tide', arguments: '{"a":' } },
    { ...head('c1', 'tide', { index: 0 }), function: { name: 'tide', arguments: '1}' } },
    head('c2', 'wind', { index: 1 }),
    { ...head('c2', 'wind', { index: 1 }), function: { name: 'wind', arguments: '{"b":2}' } },
  ],
  'with names that come late': [
    { index: 0, id: 'c1', type: 'function', function: { arguments: '{"a"' } },
    piece(':', { index: 0 }),
    { index: 0, function: { name: 'tide', arguments: '1' } },
    { index: 1, id: 'c2' },
    piece('}', { index: 0 }),
    { index: 1, function: { name: 'wind', arguments: '{"b":2}' } },
  ],
  'with an empty name first': [
    head('c1', '', { index: 0 }),
    { index: 0, function: { name: 'tide', arguments: '{"a":1}' } },
    head('c2', '', { index: 1 }),
    { index: 1, id: 'c2', function: { name: 'wind', arguments: '{"b":2}' } },
  ],
  'beside one that never gets a name': [
    { index: 0, id: 'c0', type: 'function', function: { name: '', arguments: '{}' } },
    head('c1', 'tide', { index: 1 }),
    piece('{"a":1}', { index: 1 }),
    piece('{}', { index: 0 }),
    head('c2', 'wind', { index: 2 }),
    piece('{"b":2}', { index: 2 }),
  ],
  'with empty members on later fragments': [
    head('c1', 'tide', { index: 0 }),
    { index: 0, id: '', type: null, function: { name: '', arguments: '{"a":1}' } },
    head('c2', 'wind', { index: 1 }),
    { index: 1, id: null, type: '', function: { name: null, arguments: '{"b":2}' } },
  ],
  'with the marks of a channel behind the name': [
    head('c1', 'tide<|channel|>commentary', { index: 0 }),
    piece('{"a":1}', { index: 0 }),
    head('c2', 'wind<|channel|>json', { index: 1 }),
    piece('{"b":2}', { index: 1 }),
  ],
  'numbered anyhow': [
    head('c1', 'tide', { index: 7 }),
    piece('{"a":1}', { index: 7 }),
    head('c2', 'wind', { index: 3 }),
    piece('{"b":2}', { index: 3 }),
  ],
};

/** Fragments of both in turn, which the index or the id alone tells apart. */
const IN_TURN: Readonly<Record<string, readonly Call[]>> = {
  'by an index from 1': [
    head('c1', 'tide', { index: 1 }),
    head('c2', 'wind', { index: 2 }),
    piece('{"b":', { index: 2 }),
    piece('{"a":', { index: 1 }),
    piece('2}', { index: 2 }),
    piece('1}', { index: 1 }),
  ],
  'by their ids': [
    head('c1', 'tide'),
    head('c2', 'wind'),
    piece('{"a":', { id: 'c1' }),
    piece('{"b":2}', { id: 'c2' }),
    piece('1}', { id: 'c1' }),
  ],
};

const chunk = (delta: object, finish_reason: string | null = null, index = 0): object => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index, delta, finish_reason }],
});
const streamOf = (calls: readonly Call[]): object[] => [
  chunk({ role: 'assistant' }),
  ...calls.map((call) => chunk({ tool_calls: [call] })),
  chunk({}, 'tool_calls'),
];

function relayed(pieces: readonly Buffer[]): any[] {
  const relay = new Relay({
    encoder: new CommonStream(),
    model: 'm',
    created: 1,
    stripUsage: false,
    source: { speaks: 'common', framing: 'sse' },
  });
  const out = pieces.map((bytes) => relay.push(bytes)).join('') + relay.end();
  expect(relay.failure).to.equal(undefined);
  return eventsOf(Buffer.from(out, 'latin1').toString('utf8'));
}

/** What a client that knows nothing but the index makes of the fragments of a choice. */
function byIndex(events: readonly any[], choice = 0): unknown[] {
  const calls: any[] = [];
  for (const { choices } of events) {
    for (const { index, delta } of choices) {
      for (const call of index === choice ? (delta.tool_calls ?? []) : []) {
        const known = calls[call.index] ?? { arguments: '' };
        calls[call.index] = {
          id: call.id ?? known.id,
          type: call.type ?? known.type,
          name: call.function.name ?? known.name,
          arguments: known.arguments + (call.function.arguments ?? ''),
        };
      }
    }
  }
  return calls;
}

const BOTH = [
  { id: 'c1', type: 'function', name: 'tide', arguments: '{"a":1}' },
  { id: 'c2', type: 'function', name: 'wind', arguments: '{"b":2}' },
];

describe('tool calls of a stream', () => {
  for (const [style, calls] of Object.entries(STYLES)) {
    it(`are numbered from 0: ${style}`, () => {
      const bytes = sseBytes(streamOf(calls));
      expect(byIndex(relayed([bytes]))).to.deep.equal(BOTH);
      for (const pieces of everyCut(bytes)) expect(byIndex(relayed(pieces))).to.deep.equal(BOTH);
    });

    it(`are read by the official client: ${style}`, async () => {
      const upstream = await stubUpstream((_request, response) => {
        openSse(response);
        response.end(sseBytes([...streamOf(calls), { type: '', data: '[DONE]' }]));
      });
      const host = await startHost({ targets: [upstream.target('a')] });
      const client = new OpenAI({ baseURL: `${host.url}/v1`, apiKey: MASTER_KEY, maxRetries: 0 });
      const parameters = { type: 'object', properties: {}, additionalProperties: false, required: [] };
      const tools = ['tide', 'wind'].map((name) => ({
        type: 'function' as const,
        function: { name, parameters, strict: true },
      })); // strict: the client parses, and checks most
      const {
        choices: [choice],
      } = await client.chat.completions
        .stream({ model: 'm', messages: [{ role: 'user', content: 'hi' }], tools })
        .finalChatCompletion();
      expect(
        choice?.message.tool_calls?.map(({ id, type, function: target }: any) => ({
          id,
          type,
          name: target.name,
          arguments: target.arguments,
        })),
      ).to.deep.equal(BOTH);
    });
  }

  for (const [how, calls] of Object.entries(IN_TURN)) {
    it(`are numbered from 0 where they come in turn, distinguished ${how}`, () => {
      for (const pieces of everyCut(sseBytes(streamOf(calls)))) expect(byIndex(relayed(pieces))).to.deep.equal(BOTH);
    });
  }

  const ONE_ID: readonly Call[] = [
    head('c1', 'tide', { index: 0 }),
    head('c1', 'wind', { index: 1 }),
    piece('{"b":', { index: 1, id: 'c1' }),
    piece('{"a":', { index: 0, id: 'c1' }),
    piece('2}', { index: 1 }),
    piece('1}', { index: 0 }),
  ];

  it('are two where two indexes have one id', () => {
    for (const pieces of everyCut(sseBytes(streamOf(ONE_ID))))
      expect(byIndex(relayed(pieces))).to.deep.equal(BOTH.map((call) => ({ ...call, id: 'c1' })));
  });

  it('of one id have ids of their own for clients of other wires', async () => {
    const upstream = await stubUpstream((_request, response) => {
      openSse(response);
      response.end(sseBytes([...streamOf(ONE_ID), { type: '', data: '[DONE]' }]));
    });
    const host = await startHost({ targets: [upstream.target('a')], responses: { translate: 'auto' } });
    const messages = [{ role: 'user', content: 'hi' }];
    for (const [path, body, ids] of [
      ['/v1/messages', { model: 'm', max_tokens: 9, stream: true, messages }, /"id":"(c1|toolu_\w+)"/g],
      ['/v1/responses', { model: 'm', input: 'hi', stream: true }, /"call_id":"(c1|call_\w+)"/g],
      [
        '/v1beta/models/m:streamGenerateContent?alt=sse',
        { contents: [{ parts: [{ text: 'hi' }] }] },
        /"id":"(c1|call_\w+)"/g,
      ],
    ] as const) {
      const { text } = await host.post(path, body);
      expect(new Set([...text.matchAll(ids)].map(([, id]) => id)).size, text).to.equal(2);
    }
  });

  // Source: vercel/ai, Moonshot stream of two calls without an index (kimi-k2.5), 2026-11-23.
  it('are continued by the place of their pieces in a list where nothing else tells them apart', () => {
    const lists = [
      [head('c1', 'tide'), head('c2', 'wind')],
      [piece('{"a":'), piece('{"b":')],
      [piece('1}'), piece('2}')],
    ];
    const listed = (...more: readonly (readonly Call[])[]): Buffer =>
      sseBytes([...[...more, ...lists].map((calls) => chunk({ tool_calls: calls })), chunk({}, 'tool_calls')]);
    for (const pieces of everyCut(listed())) expect(byIndex(relayed(pieces))).to.deep.equal(BOTH);
    const whole = { id: 'c0', type: 'function', function: { name: 'rain', arguments: '{}' } };
    expect(byIndex(relayed([listed([whole])])).slice(1), 'behind a call of an earlier list').to.deep.equal(BOTH);
    const alone = [
      chunk({ tool_calls: [head('c1', 'tide')] }),
      chunk({ tool_calls: [piece('{"a":'), piece('1}')] }, 'tool_calls'),
    ];
    expect(byIndex(relayed([sseBytes(alone)])), 'two pieces of the only call').to.deep.equal(BOTH.slice(0, 1));
  });

  it('are numbered choice by choice', () => {
    const events = relayed([
      sseBytes(
        [1, 0].flatMap((index) => [
          chunk({ tool_calls: [head(`c${index}`, 'tide', { index: index + 4 })] }, null, index),
          chunk({ tool_calls: [piece('{}', { index: index + 4 })] }, 'tool_calls', index),
        ]),
      ),
    ]);
    for (const index of [0, 1])
      expect(byIndex(events, index)).to.deep.equal([
        { id: `c${index}`, type: 'function', name: 'tide', arguments: '{}' },
      ]);
  });

  it('get ids where the upstream gives none, one for each call, and others in another answer', () => {
    const frames = sseBytes([
      chunk({ tool_calls: [head(undefined, 'tide', { index: 0 }), head('', 'wind', { index: 1 })] }),
      chunk(
        { tool_calls: [piece('{}', { index: 0 }), { index: 1, id: 7, function: { arguments: '{}' } }] },
        'tool_calls',
      ),
    ]);
    const idsOf = (answer: string): string[] => {
      const relay = new Relay({
        encoder: new CommonStream(),
        model: 'm',
        created: 1,
        stripUsage: false,
        source: { speaks: 'common', framing: 'sse' },
        answer,
      });
      return byIndex(eventsOf(relay.push(frames))).map(({ id }: any) => id);
    };
    const ids = [...idsOf('first'), ...idsOf('second')];
    for (const id of ids) expect(id).to.match(/^call_[\da-f]{24}$/);
    expect(new Set(ids).size).to.equal(4);
  });

  it('have names that are text, in streams and in whole answers', async () => {
    const named = { index: 0, id: 'c1', type: 'function', function: { name: 5, arguments: '{}' } };
    const [call]: any[] = byIndex(relayed([sseBytes([chunk({ tool_calls: [named] }, 'tool_calls')])]));
    expect(call.name).to.equal('5');
    const message = { role: 'assistant', content: null, tool_calls: [named] };
    const { host } = await withUpstream((_request, response) => {
      replyJson(response, 200, chatReply('', { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }));
    });
    const answer = (await host.post('/v1/chat/completions', ask('hi'))).json();
    expect(answer.choices[0].message.tool_calls[0].function).to.deep.equal({ name: '5', arguments: '{}' });
  });

  it('say their id, type and name once, and nothing else is changed', () => {
    const bytes = sseBytes(streamOf(STYLES['with all of it on every fragment'] ?? []));
    const calls = relayed([bytes]).flatMap(({ choices }) => choices[0].delta.tool_calls ?? []);
    expect(calls.slice(0, 3)).to.deep.equal([
      head('c1', 'tide', { index: 0 }),
      piece('{"a":', { index: 0 }),
      piece('1}', { index: 0 }),
    ]);
    const other = [head('c1', 'tide', { index: 0 }), { index: 0, function: { name: '_table', arguments: '{}' } }];
    expect(
      relayed([sseBytes(streamOf(other))]).flatMap(({ choices }) => choices[0].delta.tool_calls ?? []),
      'the rest of a name in pieces',
    ).to.deep.equal(other);
  });

  it('end the stream where there are more than anybody makes', () => {
    const relay = new Relay({
      encoder: new CommonStream(),
      model: 'm',
      created: 1,
      stripUsage: false,
      source: { speaks: 'common', framing: 'sse' },
      assembles: false,
    });
    for (let at = 0; at <= 10_000 && !relay.failure; at += 100)
      relay.push(
        sseBytes([chunk({ tool_calls: Array.from({ length: 100 }, (_, more) => head(`c${at + more}`, 'tide')) })]),
      );
    expect(relay.failure).to.have.nested.property('fault.message').that.includes('10000 tool calls');
  });

  it('take work in proportion to their fragments, however much is held of one without a name', () =>
    expectProportion(500, (size) => () => {
      const calls = new CallNumbers(() => {}, {});
      const members = Object.fromEntries(Array.from({ length: size }, (_, at) => [`m${at}`, at]));
      calls.number([{ ...members, index: 0 }], 0);
      for (let at = 0; at < size; at += 1) calls.number([{ index: 0, function: { arguments: 'a' } }], 0);
    }));

  it('leave as they came where there is nothing to correct', () => {
    const bytes = sseBytes([...streamOf(STYLES['numbered from 0'] ?? []), { type: '', data: '[DONE]' }]);
    const relay = new Relay({
      encoder: new CommonStream(),
      model: 'm',
      created: 1,
      stripUsage: false,
      source: { speaks: 'common', framing: 'sse' },
    });
    expect(relay.push(bytes)).to.equal(bytes.subarray(0, bytes.indexOf('data: [DONE]')).toString('latin1'));
  });
});
