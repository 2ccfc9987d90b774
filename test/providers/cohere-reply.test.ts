import { expect } from 'chai';
import cohere from '../../providers/cohere/index.ts';
import { callFor, everyCut, golden, relayStream, sseBytes, translateReply } from '../kit/index.ts';
import { faultOf } from './native-support.ts';

const CALL = callFor('command-a-03-2025');
const ID = 'c14c80c3-18eb-4519-9460-6c92edd8cfb4';
const reply = (name: string): any => translateReply(cohere, CALL, JSON.parse(golden(`cohere/chat/${name}.json`)));
const stream = (name: string): ReturnType<typeof relayStream> =>
  relayStream(cohere, CALL, [Buffer.from(golden(`cohere/chat/${name}.txt`))]);
const streamOf = (...events: object[]): ReturnType<typeof relayStream> => relayStream(cohere, CALL, [sseBytes(events)]);
const end = (delta: object): object => ({ type: 'message-end', delta });

describe('cohere, answers', () => {
  it('are text with usage as it was processed', () => {
    const { id, choices, usage } = reply('reply');
    expect(choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'conformance ok' }, finish_reason: 'stop' },
    ]);
    expect([id, usage]).to.deep.equal([ID, { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }]);
  });

  it('call tools in parallel, with their plan as reasoning and cached tokens counted', () => {
    const {
      choices: [{ message, finish_reason }],
      usage,
    } = reply('tools');
    expect(message).to.deep.equal({
      role: 'assistant',
      content: null,
      reasoning_content: 'I will look up the weather and the time.',
      tool_calls: [
        { id: 'get_weather_8x1k', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        { id: 'get_time_c0ff', type: 'function', function: { name: 'get_time', arguments: '{}' } },
      ],
    });
    expect(finish_reason).to.equal('tool_calls');
    expect(usage).to.include({ prompt_tokens: 902, completion_tokens: 55, total_tokens: 957, cache_read_tokens: 640 });
  });

  it('name the sources that places of the text cite: by address, else by id', () => {
    const sources = [
      { type: 'document', id: 'doc:0', document: { id: 'doc:0', title: 'Tides', url: 'https://t.example', text: 'x' } },
      { type: 'tool', id: 'f:0', tool_output: { title: 'Wind' } },
    ];
    const message = {
      content: [
        { type: 'thinking', thinking: 'hm' },
        { type: 'text', text: 'High ' },
        { type: 'text', text: 'at six.' },
      ],
      citations: [
        { start: 3, end: 6, text: 'six', sources, content_index: 2, type: 'TEXT_CONTENT' },
        { start: 0, end: 2, sources: [{ type: 'document', id: 'doc:1' }], content_index: 0, type: 'THINKING_CONTENT' },
        { start: 0, end: 4, text: 'plan', sources, type: 'PLAN' },
        null,
        { start: 'x', sources: [null, {}] },
        { sources: 7 },
      ],
    };
    const cited = (url: string, title: string, start_index: number, end_index: number): object => ({
      type: 'url_citation',
      url_citation: { start_index, end_index, url, title },
    });
    expect(translateReply(cohere, CALL, { message }).choices[0]?.message['annotations']).to.deep.equal([
      cited('https://t.example', 'Tides', 8, 11),
      cited('f:0', 'Wind', 8, 11),
    ]);
  });

  it('call with nothing where they call with the word null', () => {
    for (const given of ['null', ' null\n', '', null, undefined]) {
      const {
        choices: [choice],
      } = translateReply(cohere, CALL, {
        message: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: given } }] },
      });
      expect(choice?.message.tool_calls?.[0]?.function.arguments, String(given)).to.equal('{}');
    }
  });

  it('think apart from what they say', () => {
    expect(reply('thinking').choices[0].message).to.include({
      content: 'Three — each brother has Alice and her two sisters.',
      reasoning_content: 'Three brothers, so she has sisters too.',
    });
  });

  it('end with a reason of the common wire', () => {
    const finish = (finish_reason: unknown): unknown =>
      translateReply(cohere, CALL, { message: { content: [] }, finish_reason }).choices[0]?.finish_reason;
    expect([reply('truncated').choices[0].finish_reason, reply('refusal').choices[0].finish_reason]).to.deep.equal([
      'length',
      'content_filter',
    ]);
    expect(['COMPLETE', 'STOP_SEQUENCE', 'TOOL_CALL', 'ERROR', 'TIMEOUT', 7, null].map(finish)).to.deep.equal([
      'stop',
      'stop',
      'tool_calls',
      'ERROR',
      'TIMEOUT',
      null,
      null,
    ]);
  });

  it('are repaired where they can be, and refused where they say nothing', () => {
    const message = {
      content: [
        null,
        { type: 'text' },
        { type: 'document', text: 'no' },
        { type: 'text', text: 'a' },
        { type: 'text', text: 7 },
      ],
      tool_calls: [null, {}, { function: { name: 'f', arguments: { a: 1 } } }],
    };
    const {
      choices: [choice],
      usage,
    } = translateReply(cohere, CALL, { id: 7, message, usage: { tokens: 'x' } });
    expect(choice?.message.content).to.equal('a');
    expect(choice?.message.tool_calls?.map(({ function: { arguments: text } }) => text)).to.deep.equal([
      '{}',
      '{"a":1}',
    ]);
    expect(usage).to.equal(undefined);
    for (const body of [null, [], {}, { message: null }, { message: 'x' }, 'text', 7])
      expect(() => translateReply(cohere, CALL, body), JSON.stringify(body)).to.throw();
  });
});

describe('cohere, streams', () => {
  for (const name of ['reply', 'tools', 'thinking']) {
    it(`add up to the whole answer at every cut: ${name}`, () => {
      const {
        choices: [whole],
        usage,
        id,
      } = reply(name);
      for (const pieces of everyCut(Buffer.from(golden(`cohere/chat/${name === 'reply' ? 'stream' : name}.txt`)))) {
        const { reply: streamed, failure } = relayStream(cohere, CALL, pieces);
        expect(failure).to.equal(undefined);
        expect([
          streamed.choices[0]?.message,
          streamed.choices[0]?.finish_reason,
          streamed.usage,
          streamed.id,
        ]).to.deep.equal([whole.message, whole.finish_reason, usage, id]);
      }
    });
  }

  it('name their id on every chunk, their role once, and finish last with usage', () => {
    const { chunks } = stream('stream');
    expect(chunks.map(({ id }) => id)).to.deep.equal([ID, ID, ID]);
    expect(
      chunks.map(({ choices: [{ delta, finish_reason }], usage }) => [delta, finish_reason, usage?.total_tokens]),
    ).to.deep.equal([
      [{ content: 'conformance', role: 'assistant' }, null, undefined],
      [{ content: ' ok' }, null, undefined],
      [{}, 'stop', 18],
    ]);
  });

  it('number calls from 0 without a gap, and give those without arguments empty ones', () => {
    const start = (index: unknown, tool_calls: unknown): object => ({
      type: 'tool-call-start',
      index,
      delta: { message: { tool_calls } },
    });
    const delta = (index: unknown, tool_calls: unknown): object => ({
      type: 'tool-call-delta',
      index,
      delta: { message: { tool_calls } },
    });
    const call = (id: string): object => ({ id, type: 'function', function: { name: id, arguments: '' } });
    const {
      reply: {
        choices: [choice],
      },
      chunks,
    } = streamOf(
      { type: 'message-start', id: 'x' },
      start(3, call('a')),
      start(7, [call('b')]),
      delta(7, { function: { arguments: '{"x"' } }),
      delta(7, [{ function: { arguments: ':1}' } }]),
      delta(9, { function: { arguments: 'lost' } }),
      start(undefined, { id: 'c', function: { name: 'c', arguments: { y: 2 } } }),
      start(undefined, call('d')),
      end({ finish_reason: 'TOOL_CALL' }),
    );
    expect(choice?.message.tool_calls?.map(({ id, function: { arguments: text } }) => [id, text])).to.deep.equal([
      ['a', '{}'],
      ['b', '{"x":1}'],
      ['c', '{"y":2}'],
      ['d', '{}'],
    ]);
    expect(
      new Set(
        chunks.flatMap(
          ({
            choices: [
              {
                delta: { tool_calls = [] },
              },
            ],
          }) => tool_calls.map(({ index }: any) => index),
        ),
      ),
    ).to.deep.equal(new Set([0, 1, 2, 3]));
  });

  it('name their sources once, with the end, and leave out what is unknown', () => {
    const {
      reply: {
        choices: [choice],
      },
      failure,
      chunks,
    } = stream('citations');
    const annotations = [
      { type: 'url_citation', url_citation: { start_index: 0, end_index: 11, url: 'doc:0', title: 'doc:0' } },
    ];
    expect([failure, choice?.message]).to.deep.equal([
      undefined,
      { role: 'assistant', content: 'conformance ok', annotations },
    ]);
    expect(chunks.filter(({ choices: [{ delta }] }) => delta.annotations)).to.deep.equal([chunks.at(-1)]);
    expect(
      streamOf({ type: 'debug', delta: { message: { content: { text: 'x' } } } }, end({ finish_reason: 'COMPLETE' }))
        .chunks,
    ).to.have.length(1);
  });

  it('say that a call has no arguments before what comes behind it', () => {
    const { chunks } = streamOf(
      {
        type: 'tool-call-start',
        index: 0,
        delta: { message: { tool_calls: { id: 'a', function: { name: 'f', arguments: '' } } } },
      },
      { type: 'tool-call-delta', index: 0, delta: { message: { tool_calls: { function: { arguments: 'null' } } } } },
      { type: 'tool-call-end', index: 0 },
      { type: 'content-delta', index: 1, delta: { message: { content: { text: 'b' } } } },
      { type: 'tool-call-end', index: 7 },
      { type: 'message-end', delta: { finish_reason: 'TOOL_CALL' } },
    );
    expect(
      chunks.map(
        ({ choices: [choice] }: any) => choice.delta.content ?? choice.delta.tool_calls?.[0].function.arguments,
      ),
    ).to.deep.equal(['', '{}', 'b', undefined]);
  });

  it('call with nothing where they call with the word null, however it comes in pieces', () => {
    const start = (text: unknown): object => ({
      type: 'tool-call-start',
      index: 0,
      delta: { message: { tool_calls: { id: 'a', function: { name: 'f', arguments: text } } } },
    });
    const delta = (text: string): object => ({
      type: 'tool-call-delta',
      index: 0,
      delta: { message: { tool_calls: { function: { arguments: text } } } },
    });
    const args = (...events: object[]): unknown =>
      streamOf(...events, end({ finish_reason: 'TOOL_CALL' })).reply.choices[0]?.message.tool_calls?.[0]?.function
        .arguments;
    expect([
      args(start('null')),
      args(start(''), delta('n'), delta('ull')),
      args(start(null), delta(' null ')),
      args(start('nu'), delta('ll')),
    ]).to.deep.equal(['{}', '{}', '{}', '{}']);
    expect([
      args(start('{"a":'), delta('null}')),
      args(start(''), delta(' '), delta('{"n":1}')),
      args(start('"null'), delta('"')),
    ]).to.deep.equal(['{"a":null}', ' {"n":1}', '"null"']);
  });

  it('fail with the error of their end, and when they end without one', () => {
    const failed = stream('error');
    expect(failed.failure).to.have.nested.property('fault.message', 'model overloaded');
    expect(failed.chunks.at(-1).choices[0].finish_reason).to.equal(null);
    expect(
      streamOf(
        { type: 'message-start', id: 'x' },
        { type: 'content-delta', delta: { message: { content: { text: 'cut' } } } },
      ).failure,
    ).to.be.an('error');
  });

  it('hold nothing after their end, and count only what was counted', () => {
    const {
      chunks,
      reply: { usage },
    } = streamOf(end({ finish_reason: 'COMPLETE', usage: { tokens: { input_tokens: 0, output_tokens: 0 } } }), {
      type: 'content-delta',
      delta: { message: { content: { text: 'late' } } },
    });
    expect(chunks).to.have.length(1);
    expect([chunks[0], usage]).to.satisfy(([chunk, counted]: any[]) => !('usage' in chunk) && counted === undefined);
  });

  it('survive events of any shape', () => {
    const odd = [
      { type: '', data: 'no json' },
      { type: '', data: '[]' },
      { type: '', data: 'null' },
      ...[
        'message-start',
        'content-start',
        'content-delta',
        'tool-plan-delta',
        'tool-call-start',
        'tool-call-delta',
      ].flatMap((type) => [
        { type },
        { type, delta: null },
        { type, delta: { message: 7 } },
        { type, delta: { message: { content: null, tool_calls: [], tool_plan: {} } } },
      ]),
    ];
    const text = { type: 'content-delta', delta: { message: { content: { text: 'a' } } } };
    const { failure } = streamOf(...odd, text, end({ finish_reason: 'COMPLETE', usage: [] }));
    expect(failure).to.equal(undefined);
  });
});

describe('cohere, refusals', () => {
  it('say what is wrong in their message alone', () => {
    expect(faultOf(cohere, 401, golden('cohere/chat/error-401.json'))).to.include({
      code: 'upstream_auth_error',
      said: 'invalid api token',
    });
    expect(faultOf(cohere, 404, golden('cohere/chat/error-404.json'))).to.include({ code: 'model_not_found' });
    for (const body of ['{"message":7}', '[]', ''])
      expect(faultOf(cohere, 400, body), body).to.include({ said: 'Bad Request', reason: undefined });
  });

  it('know a prompt that is too long from a ceiling that is too high', () => {
    expect(faultOf(cohere, 400, golden('cohere/chat/error-400-context.json'))).to.include({
      code: 'invalid_request',
      reason: 'context_length',
    });
    expect(
      faultOf(
        cohere,
        400,
        '{"message":"too many tokens: max tokens must be less than or equal to 4096, the maximum output for this model - received 8192."}',
      ),
    ).to.include({ reason: undefined });
  });
});
