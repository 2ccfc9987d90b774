import { expect } from 'chai';
import anthropic from '../../providers/anthropic/index.ts';
import bedrock from '../../providers/bedrock/index.ts';
import type { ProviderModule } from '../../host/contract/index.ts';
import { callFor, relayStream, type RelayedStream, sseBytes, translateReply } from '../kit/index.ts';
import { fixture, MODEL } from './anthropic-support.ts';
import { chunk, CLAUDE } from './bedrock-support.ts';

const call = callFor(MODEL, { stream: true });
const events = (...list: object[]): RelayedStream => relayStream(anthropic, call, [sseBytes(list)]);
const start = (usage: object, more: object = {}): object => ({
  type: 'message_start',
  message: { id: 'msg_1', model: MODEL, content: [], stop_reason: null, usage, ...more },
});
const end = (usage?: object): object => ({
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  ...(usage && { usage }),
});
const text = (value: string): object => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: value },
});

describe('Claude, usage of streams', () => {
  const list = [
    start({ input_tokens: 2751, cache_read_input_tokens: 10, output_tokens: 1 }),
    text('a'),
    end({ input_tokens: 320_032, cache_read_input_tokens: 4000, cache_creation_input_tokens: 70, output_tokens: 900 }),
  ];
  const expected = {
    prompt_tokens: 324_032,
    completion_tokens: 900,
    total_tokens: 324_932,
    cache_read_tokens: 4000,
    cache_write_tokens: 70,
  };

  it('is what the last event says: its numbers are cumulative, and those of the first one are from before the tools ran', () => {
    expect(events(...list).reply.usage).to.deep.include(expected);
  });

  it('is so behind Bedrock too', () => {
    const module: ProviderModule = bedrock;
    const { reply } = relayStream(module, callFor(CLAUDE, { stream: true }), list.map(chunk));
    expect(reply.usage).to.deep.include(expected);
  });

  it('takes each number by itself from the first event where the last one leaves it out, or says null', () => {
    const first = { input_tokens: 7, cache_read_input_tokens: 20, cache_creation_input_tokens: 3, output_tokens: 1 };
    for (const usage of [undefined, {}, { output_tokens: null, input_tokens: null }]) {
      expect(events(start(first), end(usage)).reply.usage).to.deep.include({
        prompt_tokens: 27,
        completion_tokens: 1,
        cache_read_tokens: 20,
        cache_write_tokens: 3,
      });
    }
    const { reply } = events(
      start(first),
      end({ input_tokens: 9, cache_read_input_tokens: 0, cache_creation_input_tokens: null, output_tokens: 5 }),
    );
    expect(reply.usage)
      .to.deep.include({ prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, cache_write_tokens: 3 })
      .and.not.have.property('cache_read_tokens');
  });
});

describe('Claude, usage in iterations', () => {
  const whole = (usage: object): any =>
    translateReply(anthropic, callFor(MODEL), {
      content: [{ type: 'text', text: 'a' }],
      stop_reason: 'end_turn',
      usage,
    }).usage;
  const streamed = (usage: object): any =>
    events(start({ input_tokens: 1, output_tokens: 1 }), text('a'), end(usage)).reply.usage;
  const iteration = (type: string, input_tokens: number, output_tokens: number, more: object = {}): object => ({
    type,
    input_tokens,
    output_tokens,
    ...more,
  });

  it('is their sum: what a compaction takes is in no other number', () => {
    const usage = JSON.parse(fixture('compaction.json')).usage;
    for (const read of [whole, streamed])
      expect(read(usage)).to.include({ prompt_tokens: 203_000, completion_tokens: 4500, total_tokens: 207_500 });
  });

  it('counts caches of each, and the advice of another model', () => {
    const iterations = [
      iteration('message', 10, 5, { cache_read_input_tokens: 100, cache_creation_input_tokens: 4 }),
      iteration('advisor_message', 800, 90),
      iteration('message', 20, 6, { cache_read_input_tokens: 104 }),
    ];
    for (const read of [whole, streamed]) {
      expect(
        read({
          input_tokens: 30,
          output_tokens: 11,
          cache_read_input_tokens: 204,
          cache_creation_input_tokens: 4,
          iterations,
        }),
      ).to.include({ prompt_tokens: 1034, completion_tokens: 101, cache_read_tokens: 204, cache_write_tokens: 4 });
    }
  });

  it("takes the whole's numbers where iterations state none, and where another model served in the end", () => {
    for (const read of [whole, streamed]) {
      expect(
        read({
          input_tokens: 30,
          output_tokens: 11,
          cache_read_input_tokens: 7,
          iterations: [iteration('message', 30, 11)],
        }),
      ).to.include({ prompt_tokens: 37, cache_read_tokens: 7 });
      const fallback = [
        iteration('message', 500, 1),
        iteration('fallback_message', 30, 11),
        iteration('compaction', 4, 2),
      ];
      expect(read({ input_tokens: 30, output_tokens: 11, iterations: fallback })).to.include({
        prompt_tokens: 34,
        completion_tokens: 13,
      });
      for (const iterations of [[], null, 'x', [null, 7, {}], [{ type: 7, input_tokens: 'x' }]])
        expect(read({ input_tokens: 30, output_tokens: 11, iterations })).to.include({
          prompt_tokens: 30,
          completion_tokens: 11,
        });
    }
  });
});

describe('Claude, streams that begin otherwise', () => {
  it('fail at a second message: two answers in one are none', () => {
    for (const list of [
      [start({}), text('a'), start({}, { id: 'msg_2' }), end()],
      [start({}), text('a'), end(), start({}, { id: 'msg_2' })],
      [start({}, { id: 7 }), text('a'), start({}, { id: 7 })],
    ]) {
      const { failure, reply } = events(...list);
      expect(failure).to.be.an.instanceof(Error);
      expect(failure?.cause)
        .to.be.an.instanceof(Error)
        .and.include({ message: 'anthropic: a second message began on the stream' });
      expect(reply.choices[0]?.message.content).to.equal('a');
    }
  });

  it('may say twice which message they are', () => {
    const { failure, reply } = events(
      start({ input_tokens: 7 }),
      start({ input_tokens: 7 }),
      text('a'),
      start({}),
      end({ output_tokens: 3 }),
    );
    expect(failure).to.equal(undefined);
    expect(reply.choices[0]?.message.content).to.equal('a');
    expect(reply.usage).to.include({ prompt_tokens: 7, completion_tokens: 3 });
  });

  it('may hold the whole answer in their first event', () => {
    const message = JSON.parse(fixture('tools.json'));
    const { choices, usage } = translateReply(anthropic, callFor(MODEL), message);
    for (const list of [
      [{ type: 'message_stop' }],
      [{ type: 'message_delta', delta: { stop_reason: message.stop_reason }, usage: {} }, { type: 'message_stop' }],
    ]) {
      const { reply, failure } = events({ type: 'message_start', message }, ...list);
      expect(failure).to.equal(undefined);
      expect({ choices: reply.choices, usage: reply.usage }).to.deep.equal({ choices, usage });
    }
    for (const name of ['thinking.json', 'structured.json', 'web-search.json']) {
      const other = JSON.parse(fixture(name));
      expect(
        events({ type: 'message_start', message: other }, { type: 'message_stop' }).reply.choices,
        name,
      ).to.deep.equal(translateReply(anthropic, callFor(MODEL), other).choices);
    }
  });

  it('may begin there and go on', () => {
    const { reply } = events(start({}, { content: [{ type: 'text', text: 'On ' }] }), text('we go'), end());
    expect(reply.choices[0]).to.deep.include({
      message: { role: 'assistant', content: 'On we go' },
      finish_reason: 'stop',
    });
  });

  it('that end without anybody saying why have failed, also there', () => {
    expect(
      events(start({}, { content: [{ type: 'text', text: 'a' }] }), { type: 'message_stop' }).failure,
    ).to.be.an.instanceof(Error);
    expect(
      events(start({}, { content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' })).failure,
      'cut off',
    ).to.be.an.instanceof(Error);
  });
});
