import { expect } from 'chai';
import anthropic from '../../providers/anthropic/index.ts';
import { GatewayError, type StreamEvent } from '../../host/contract/index.ts';
import {
  callFor,
  everyCut,
  failedReply,
  relayStream,
  type RelayedStream,
  sseBytes,
  translateReply,
} from '../kit/index.ts';
import { chat, fixture, MODEL, sent } from './anthropic-support.ts';
import { faultOf } from './native-support.ts';

const call = callFor(MODEL, { stream: true });
const whole = (name: string): any => translateReply(anthropic, callFor(MODEL), fixture(name), chat());
const streamed = (name: string): RelayedStream => relayStream(anthropic, call, [Buffer.from(fixture(name))]);
const events = (...list: object[]): RelayedStream => relayStream(anthropic, call, [sseBytes(list)]);
const deltasOf = ({ chunks }: RelayedStream): any[] =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }: any) => delta));

const START = { type: 'message_start', message: { id: 'msg_1', model: MODEL, usage: { input_tokens: 3 } } };
const FINISH = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } };
const delta = (index: number, value: object): object => ({ type: 'content_block_delta', index, delta: value });

describe('anthropic, answers', () => {
  it('of text keep id, role, end and usage', () => {
    const reply = whole('reply.json');
    expect(reply).to.include({ id: 'msg_01Kx8VtQmN4wZ2' });
    expect(reply.choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'conformance ok' }, finish_reason: 'stop' },
    ]);
    expect(reply.usage).to.deep.equal({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
  });

  it('of calls have text or none, and arguments as text', () => {
    const {
      choices: [choice],
    } = whole('tools.json');
    expect(choice).to.deep.include({ finish_reason: 'tool_calls' });
    expect(choice.message).to.deep.equal({
      role: 'assistant',
      content: 'Both harbours, then.',
      tool_calls: [
        { id: 'toolu_01A', type: 'function', function: { name: 'tide', arguments: '{"harbour":"Ostend","days":2}' } },
        { id: 'toolu_01B', type: 'function', function: { name: 'clock', arguments: '{}' } },
      ],
    });
    expect(whole('thinking.json').choices[0].message.content).to.equal(null);
  });

  it("keep every digit of a call's input", () => {
    const body =
      '{"content":[{"type":"tool_use","id":"t","name":"f","input":{"id":90071992547409931}}],"stop_reason":"tool_use"}';
    expect(
      translateReply(anthropic, callFor(MODEL), body).choices[0]?.message.tool_calls?.[0]?.function.arguments,
    ).to.equal('{"id":90071992547409931}');
  });

  it('of thinking carry its text, and signatures beside', () => {
    const {
      choices: [{ message }],
      usage,
    } = whole('thinking.json');
    expect(message.reasoning_content).to.equal('Low water is at four. So the boat sits dry.');
    expect(message.reasoning_details).to.deep.equal([
      {
        type: 'reasoning.text',
        index: 0,
        format: 'anthropic-claude-v1',
        text: message.reasoning_content,
        signature: 'EqQBCkYIBxgCKkB9c1',
      },
      { type: 'reasoning.encrypted', index: 1, format: 'anthropic-claude-v1', data: 'EmwKAhgBEgy3va3p' },
    ]);
    expect(usage).to.include({ completion_tokens: 301, reasoning_tokens: 222 });
  });

  it('count cache reads as prompt, and cache writes beside', () => {
    for (const { usage } of [whole('cache.json'), streamed('cache.txt').reply]) {
      expect(usage).to.include({
        prompt_tokens: 10_000,
        completion_tokens: 5,
        total_tokens: 10_005,
        cache_read_tokens: 8000,
        cache_write_tokens: 600,
      });
    }
  });

  it('end as the common wire calls it', () => {
    expect(whole('refusal.json').choices[0].finish_reason).to.equal('content_filter');
    expect(whole('truncated.json').choices[0].finish_reason).to.equal('length');
    for (const [reason, expected] of [
      ['stop_sequence', 'stop'],
      ['pause_turn', 'pause_turn'],
      ['model_context_window_exceeded', 'length'],
      ['compaction', 'stop'],
    ]) {
      expect(
        translateReply(anthropic, callFor(MODEL), { content: [], stop_reason: reason }).choices[0]?.finish_reason,
      ).to.equal(expected);
      expect(
        events(START, { type: 'message_delta', delta: { stop_reason: reason } }).reply.choices[0]?.finish_reason,
      ).to.equal(expected);
    }
  });

  it('say why the model declined, where the vendor does', () => {
    const details = (explanation: unknown): object => ({ type: 'refusal', category: 'cyber', explanation });
    const asWhole = (stop_details: unknown): any =>
      translateReply(anthropic, callFor(MODEL), {
        content: [{ type: 'text', text: 'I can' }],
        stop_reason: 'refusal',
        stop_details,
      }).choices[0]?.message;
    const asStream = (stop_details: unknown): any =>
      events(START, { type: 'message_delta', delta: { stop_reason: 'refusal', stop_details } }).reply.choices[0];
    expect(asWhole(details('This could help an attack.'))).to.deep.equal({
      role: 'assistant',
      content: 'I can',
      refusal: 'This could help an attack.',
    });
    expect(asStream(details('This could help an attack.'))).to.deep.include({ finish_reason: 'content_filter' });
    expect(asStream(details('This could help an attack.')).message.refusal).to.equal('This could help an attack.');
    for (const none of [undefined, null, {}, details(null), details(''), details(7)]) {
      expect(asWhole(none)).to.deep.equal({ role: 'assistant', content: 'I can' });
      expect(asStream(none).message).to.not.have.property('refusal');
    }
  });

  it('of a forced tool are the content', () => {
    for (const [reply, chunks] of [
      [whole('structured.json'), []],
      [streamed('structured.txt').reply, streamed('structured.txt').chunks],
    ] as const) {
      const [choice] = reply.choices;
      expect(JSON.parse(choice.message.content)).to.deep.equal({ open: 6, close: 21 });
      expect(choice).to.include({ finish_reason: 'stop' });
      expect(choice.message).to.not.have.property('tool_calls');
      expect(JSON.stringify(chunks)).to.not.include('tool_calls');
    }
  });

  it('that are not a message are unusable', () => {
    for (const body of [
      'null',
      '[]',
      '{}',
      '{"content":"x"}',
      '{"content":[]}',
      '{"content":[null,7,{}]}',
      '{"content":[{"type":"text","text":7}]}',
      '{"content":[{"type":"thinking"}]}',
      'x',
    ]) {
      expect(() => translateReply(anthropic, callFor(MODEL), body), body).to.throw();
    }
  });

  it('are read past what has the wrong type', () => {
    const content = [
      null,
      'x',
      { type: 'text', text: 7 },
      { type: 'tool_use', id: 7, name: 7, input: 'x' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
      { type: 'text', text: 'a' },
    ];
    const reply = translateReply(anthropic, callFor(MODEL), {
      id: 7,
      model: 7,
      role: 7,
      content,
      stop_reason: 7,
      usage: { input_tokens: 'x', output_tokens: -1 },
    });
    expect(reply.choices[0]).to.deep.equal({
      index: 0,
      finish_reason: null,
      message: {
        role: 'assistant',
        content: 'a',
        tool_calls: [{ type: 'function', function: { name: '', arguments: '{}' } }],
      },
    });
    expect(reply.usage).to.deep.equal({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 });
  });
});

describe('anthropic, streams', () => {
  for (const name of ['tools', 'thinking', 'cache', 'refusal', 'structured']) {
    it(`of ${name} add up to the whole answer, wherever they are cut`, () => {
      const { choices, usage, id } = whole(`${name}.json`);
      for (const pieces of everyCut(Buffer.from(fixture(`${name}.txt`)))) {
        const { reply, failure } = relayStream(anthropic, call, pieces);
        expect(failure).to.equal(undefined);
        expect(reply.choices).to.deep.equal(choices);
        expect({ usage: reply.usage, id: reply.id }).to.deep.equal({ usage, id });
      }
    });
  }

  it('have id and model on every chunk, and usage at the end only', () => {
    const { chunks } = streamed('stream.txt');
    expect(chunks.map(({ choices: [choice] }) => [choice.delta.content, choice.finish_reason])).to.deep.equal([
      ['conformance', null],
      [' ok', null],
      [undefined, 'stop'],
    ]);
    for (const chunk of chunks) expect(chunk).to.include({ id: 'msg_01Kx8VtQmN4wZ2', object: 'chat.completion.chunk' });
    expect(chunks.map(({ usage }) => usage?.prompt_tokens)).to.deep.equal([undefined, undefined, 11]);
  });

  it('number calls in order whatever their blocks are, and complete the one without arguments', () => {
    const calls = deltasOf(streamed('tools.txt')).flatMap(({ tool_calls: list = [] }) => list);
    expect(
      calls.map(({ index, id, function: { name, arguments: text } }: any) => [index, id, name, text]),
    ).to.deep.equal([
      [0, 'toolu_01A', 'tide', ''],
      [0, undefined, undefined, '{"harbour":"Ost'],
      [0, undefined, undefined, 'end","days":2}'],
      [1, 'toolu_01B', 'clock', ''],
      [1, undefined, undefined, '{}'],
    ]);
  });

  it('give signatures with the index of their thinking', () => {
    const details = deltasOf(streamed('thinking.txt')).flatMap(({ reasoning_details: list = [] }) => list);
    expect(details.map(({ index, text, signature, data }: any) => [index, text ?? signature ?? data])).to.deep.equal([
      [0, 'Low water is at four.'],
      [0, ' So the boat sits dry.'],
      [0, 'EqQBCkYIBxgCKkB9c1'],
      [1, 'EmwKAhgBEgy3va3p'],
    ]);
  });

  it("leave out what the vendor's own tools do, but for the pages they found", () => {
    const { reply } = streamed('server-tools.txt');
    const page = {
      url: 'https://harbour.example/hours',
      title: 'https://harbour.example/hours',
      start_index: 0,
      end_index: 16,
    };
    expect(reply.choices[0]?.message).to.deep.equal({
      role: 'assistant',
      content: 'It opens at six.',
      annotations: [{ type: 'url_citation', url_citation: page }],
    });
  });

  it('leave out fragments of a block that was never opened: which tool they call is not known', () => {
    const text = delta(0, { type: 'text_delta', text: 'a' });
    const { chunks } = events(START, delta(4, { type: 'input_json_delta', partial_json: '{}' }), text, FINISH);
    expect(chunks.flatMap(({ choices: [choice] }: any) => choice?.delta.tool_calls ?? [])).to.deep.equal([]);
  });

  it('take input that comes as the text of an object, digit for digit', () => {
    const block = { type: 'tool_use', id: 't', name: 'f', input: '{"id":90071992547409931}' };
    const whole = translateReply(anthropic, callFor(MODEL), { content: [block], stop_reason: 'tool_use' });
    const streamed = events(
      START,
      { type: 'content_block_start', index: 0, content_block: block },
      { ...FINISH, delta: { stop_reason: 'tool_use' } },
    ).reply;
    for (const {
      choices: [choice],
    } of [whole, streamed])
      expect(choice?.message.tool_calls?.[0]?.function).to.deep.equal({
        name: 'f',
        arguments: '{"id":90071992547409931}',
      });
  });

  it("take input that comes with the call's start", () => {
    const { reply } = events(
      START,
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } },
      },
      { ...FINISH, delta: { stop_reason: 'tool_use' } },
    );
    expect(reply.choices[0]?.message.tool_calls?.[0]?.function.arguments).to.equal('{"a":1}');
  });

  it('say the arguments of a call without fragments before what comes behind its block', () => {
    for (const [input, text] of [
      [{}, '{}'],
      [{ a: 1 }, '{"a":1}'],
    ] as const) {
      const list = [
        START,
        { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 't', name: 'f', input } },
        delta(0, { type: 'input_json_delta', partial_json: '' }),
        { type: 'content_block_stop', index: 0 },
        { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
        delta(1, { type: 'text_delta', text: 'b' }),
        { type: 'content_block_stop', index: 1 },
        { ...FINISH, delta: { stop_reason: 'tool_use' } },
      ];
      expect(
        deltasOf(events(...list)).map(({ content, tool_calls: calls }) => content ?? calls?.[0].function.arguments),
      ).to.deep.equal(['', text, 'b', undefined]);
    }
  });

  it("fail with the vendor's message, before and after the first text", () => {
    const { reply, failure, chunks } = streamed('error.txt');
    expect(reply.choices[0]?.message.content).to.equal('The har');
    expect(failure)
      .to.be.an.instanceof(GatewayError)
      .and.deep.include({
        fault: { kind: 'reply', message: 'overloaded_error: Overloaded', code: 'overloaded_error', reason: 'overload' },
      });
    expect(failure?.cause, 'for operators')
      .to.be.an.instanceof(Error)
      .and.include({ message: 'anthropic: overloaded_error: Overloaded' });
    expect(chunks).to.have.length(1);
    for (const error of [undefined, null, 'x', {}, { type: 7, message: 7 }])
      expect(events({ type: 'error', error }).failure).to.be.an.instanceof(GatewayError);
  });

  it('that end without a reason to stop have failed', () => {
    expect(
      events(START, delta(0, { type: 'text_delta', text: 'a' }), { type: 'message_stop' }).failure?.message,
    ).to.include('unusable');
    for (const broken of [
      { delta: 'x' },
      { delta: { stop_reason: 7 } },
      { delta: { stop_reason: null } },
      { delta: { stop_reason: 'end_turn' }, usage: 'x' },
      {},
    ]) {
      const { chunks, failure } = events(START, { type: 'message_delta', ...broken });
      expect(chunks).to.deep.equal([]);
      expect(failure).to.be.an.instanceof(Error);
    }
  });

  it('say nothing after their end', () => {
    const { chunks } = events(START, FINISH, delta(0, { type: 'text_delta', text: 'late' }), FINISH, {
      type: 'message_stop',
    });
    expect(chunks).to.have.length(1);
  });

  it('are read past events that are not in order', () => {
    const broken: (StreamEvent | object)[] = [
      { type: 'x', data: '{"type":' },
      { type: '', data: '[]' },
      { type: '', data: '7' },
      { type: 'ping' },
      { type: 'brand_new' },
      { type: 'message_start' },
      { type: 'message_start', message: 7 },
      { type: 'content_block_start' },
      { type: 'content_block_start', index: 0, content_block: 7 },
      { type: 'content_block_start', index: 'x', content_block: { type: 'redacted_thinking' } },
      { type: 'content_block_delta' },
      delta(0, { type: 'text_delta' }),
      delta(0, { type: 'text_delta', text: 7 }),
      delta(0, { type: 'input_json_delta', partial_json: 7 }),
      delta(0, { type: 'thinking_delta' }),
      delta(0, { type: 'signature_delta', signature: null }),
      delta(0, { type: 'citations_delta', citation: {} }),
      delta(0, {}),
      { type: 'content_block_stop' },
    ];
    const { reply, failure, chunks } = relayStream(anthropic, call, [
      sseBytes([...broken, START, delta(0, { type: 'text_delta', text: 'a' }), FINISH]),
    ]);
    expect(failure).to.equal(undefined);
    expect(chunks).to.have.length(2);
    expect(reply.choices[0]).to.deep.include({ message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' });
  });
});

describe('anthropic, errors', () => {
  const fault = (name: string, status = 400): unknown => faultOf(anthropic, status, fixture(name));

  it("are read from the vendor's envelope, with what they mean for failover", () => {
    expect(fault('error-401.json', 401)).to.include({ said: 'invalid x-api-key', reason: 'key' });
    expect(fault('error-400-context.json')).to.deep.include({ reason: 'context_length' });
    expect(fault('error-400-policy.json')).to.deep.include({ reason: 'content_policy' });
    expect(
      faultOf(anthropic, 400, '{"error":{"message":"input length and `max_tokens` exceed context limit: 1 + 2 > 3"}}'),
    ).to.deep.include({ reason: 'context_length' });
  });

  it('of another shape are left to the host', () => {
    for (const body of ['', '<html>', 'null', '[]', '{"error":"x"}', '{"error":{"message":" "}}', '{"message":"x"}'])
      expect(anthropic.toFault?.(failedReply(body)), body).to.equal(undefined);
  });
});

describe('anthropic, a conversation with thinking and tools', () => {
  it('survives its second turn, whole and streamed', async () => {
    for (const reply of [whole('thinking.json'), streamed('thinking.txt').reply]) {
      const [{ message }] = reply.choices;
      const { body, ignored } = await sent({
        messages: [
          { role: 'user', content: 'x' },
          JSON.parse(JSON.stringify(message)),
          { role: 'tool', tool_call_id: 'toolu_02A', content: 'dry' },
        ],
        tools: [{ type: 'function', function: { name: 'tide' } }],
        reasoning_effort: 'low',
      });
      expect(body.messages[1]).to.deep.equal({
        role: 'assistant',
        content: JSON.parse(fixture('thinking.json')).content,
      });
      expect(body.thinking).to.include({ type: 'enabled' });
      expect(ignored).to.deep.equal([]);
    }
  });
});

describe('anthropic, pieces of text', () => {
  const piece = (text: string): string =>
    `event: content_block_delta\ndata: ${JSON.stringify(delta(0, { type: 'text_delta', text }))}\n\n`;
  const relayed = (...pieces: string[]): RelayedStream =>
    relayStream(anthropic, call, [
      Buffer.from(`${sseBytes([START]).toString()}${pieces.join('')}${sseBytes([FINISH]).toString()}`),
    ]);

  it('read the same whether or not JSON escapes anything in them, and however they are written', () => {
    const texts = ['plain', ' ', 'Grüße 🙂', '"quoted"', 'back\\slash', 'a\nb', "'text_delta'", '\u0007', ''];
    const written = texts.map(piece);
    const spaced = written.map((event) =>
      event.replaceAll('":', '": ').replaceAll(',"', ', "').replace('}}\n', '} }\n'),
    );
    for (const form of [written, spaced])
      expect(
        deltasOf(relayed(...form))
          .map(({ content }) => content ?? '')
          .join(''),
      ).to.equal(texts.join(''));
  });

  it('are not parsed where nothing in them is escaped', () => {
    const { openStream } = anthropic.translators.chat!;
    const decode = typeof openStream === 'function' ? openStream(call, chat({})) : undefined;
    const list = Array.from({ length: 500 }, (_, at) => ({
      type: 'content_block_delta',
      data: JSON.stringify(delta(0, { type: 'text_delta', text: ` word${at}` })),
    }));
    const parse = JSON.parse;
    let parsed = 0;
    JSON.parse = (...given) => {
      parsed += 1;
      return parse(...given);
    };
    try {
      for (const event of list) decode?.(event);
    } finally {
      JSON.parse = parse;
    }
    expect([decode === undefined, parsed]).to.deep.equal([false, 0]);
  });
});
