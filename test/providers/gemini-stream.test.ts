import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import gemini from '../../providers/gemini/index.ts';
import { callFor, golden, relayStream, type RelayedStream, sseBytes, translateReply } from '../kit/index.ts';

const call = callFor('gemini-3-flash-preview', { stream: true });
const relay = (...frames: unknown[]): RelayedStream => relayStream(gemini, call, [sseBytes(frames as object[])]);
const frame = (parts: unknown, more: object = {}, around: object = {}): object => ({
  responseId: 'r',
  candidates: [{ content: { role: 'model', parts }, ...more }],
  ...around,
});
const STOP = { finishReason: 'STOP' };
const usage = (total: number): object => ({
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: total - 5, totalTokenCount: total },
});
const deltas = ({ chunks }: RelayedStream): unknown[] =>
  chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: unknown }) => delta));

describe('gemini, streams', () => {
  it('are one chunk per frame, with the native id, usage with the finish and not before', () => {
    const { chunks, failure } = relayStream(gemini, call, [Buffer.from(golden('gemini/chat/stream.txt'))]);
    expect(failure).to.equal(undefined);
    const common = { object: 'chat.completion.chunk', created: 1_700_000_000, id: 'Il0taoSYJ5Cez7IP', model: 'routed' };
    expect(chunks).to.deep.equal([
      { ...common, choices: [{ index: 0, delta: { role: 'assistant', content: 'conformance' }, finish_reason: null }] },
      {
        ...common,
        choices: [{ index: 0, delta: { content: ' ok' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
      },
    ]);
  });

  it('add up to the same answer as the whole one: thoughts, signatures, parallel calls', () => {
    const { reply } = relayStream(gemini, call, [Buffer.from(golden('gemini/chat/thinking.txt'))]);
    const whole = translateReply(gemini, call, JSON.parse(golden('gemini/chat/thinking.json')));
    expect(reply.choices).to.deep.equal(whole.choices);
    expect(reply.usage).to.deep.equal(whole.usage);
  });

  it('number calls and their ids through, per candidate', () => {
    const called = (name: string, more: object = {}): object => ({ functionCall: { name, args: {}, ...more } });
    const { reply } = relay(
      {
        candidates: [
          { content: { parts: [called('a')] } },
          { index: 1, content: { parts: [called('x', { id: 'own' })] } },
        ],
      },
      { candidates: [{ index: 1, content: { parts: [called('y')] }, ...STOP }] },
      { candidates: [{ index: 0, content: { parts: [called('b'), called('c')] }, ...STOP }] },
    );
    const ids = reply.choices.map(({ message: { tool_calls: calls = [] }, finish_reason: finish }) => [
      finish,
      ...calls.map(({ id, function: { name } }) => `${id} ${name}`),
    ]);
    const all = ids.flat().filter((word) => word !== 'tool_calls');
    expect(all.map((word) => word?.replace(/^call_[0-9a-f]{24} /, 'made '))).to.deep.equal([
      'made a',
      'made b',
      'made c',
      'own x',
      'made y',
    ]);
    expect(new Set(all.map((word) => word?.split(' ')[0]))).to.have.property('size', 5);
    expect(reply.choices.map(({ finish_reason: finish }) => finish)).to.deep.equal(['tool_calls', 'tool_calls']);
  });

  it('stop for calls when the stop comes in a later frame, unless for a reason that outranks them', () => {
    const finishOf = (finishReason: string): unknown =>
      relay(frame([{ functionCall: { name: 'a' } }]), frame([], { finishReason })).reply.choices[0]?.finish_reason;
    expect([
      finishOf('STOP'),
      finishOf('MAX_TOKENS'),
      finishOf('SAFETY'),
      finishOf('MALFORMED_FUNCTION_CALL'),
    ]).to.deep.equal(['tool_calls', 'length', 'content_filter', 'MALFORMED_FUNCTION_CALL']);
  });

  it('tell usage last, also when it comes alone or before the finish', () => {
    const alone = relay(frame([{ text: 'a' }], STOP), { responseId: 'r', ...usage(9) });
    expect(alone.chunks.at(-1)).to.deep.include({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
    });
    const early = relay(frame([{ text: 'a' }], {}, usage(7)), frame([{ text: 'b' }], STOP));
    expect(early.chunks.map(({ usage: said }) => said?.total_tokens)).to.deep.equal([undefined, 7]);
    const counted = relay(frame([{ text: 'a' }], {}, usage(6)), frame([{ text: 'b' }], STOP, usage(8)), {
      usageMetadata: { totalTokenCount: 0 },
    });
    expect(counted.chunks.map(({ usage: said }) => said?.total_tokens)).to.deep.equal([undefined, 8]);
  });

  it('keep a signature in a part of its own, after the text it follows', () => {
    const { reply } = relay(
      frame([{ text: 'Hello' }]),
      frame([{ text: ' you' }]),
      frame([{ text: '', thoughtSignature: 'U2ln' }], STOP),
    );
    expect(reply.choices[0]?.message).to.deep.equal({
      role: 'assistant',
      content: 'Hello you',
      reasoning_details: [
        { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', start: 9, end: 9, data: 'U2ln' },
      ],
    });
  });

  it('go on after a reason that says nothing', () => {
    const { reply } = relay(
      { promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } },
      { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] },
    );
    expect(reply.choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' },
    ]);
  });

  it('are a refusal for a blocked prompt', () => {
    const { reply, failure, chunks } = relay(JSON.parse(golden('gemini/chat/blocked.json')));
    expect(failure).to.equal(undefined);
    expect(reply.choices).to.deep.equal([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: 'the prompt was blocked: PROHIBITED_CONTENT' },
        finish_reason: 'content_filter',
      },
    ]);
    expect(chunks[0].usage).to.include({ prompt_tokens: 9 });
  });

  it('say nothing for frames that say nothing new', () => {
    const { chunks } = relay(
      { responseId: 'r', modelVersion: 'x' },
      frame([]),
      frame([{ text: 'a' }]),
      frame([], { finishReason: '' }),
      frame([], STOP),
      frame([], STOP),
    );
    expect(chunks).to.have.length(2);
  });

  it('carry log probabilities with their pieces', () => {
    const logprobsResult = (token: string): object => ({
      logprobsResult: { chosenCandidates: [{ token, logProbability: -1 }] },
    });
    const { reply } = relay(
      frame([{ text: 'a' }], logprobsResult('a')),
      frame([{ text: 'b' }], { ...logprobsResult('b'), ...STOP }),
    );
    expect(reply.choices[0]?.logprobs).to.deep.equal({
      content: ['a', 'b'].map((token) => ({ token, logprob: -1, bytes: [token.charCodeAt(0)], top_logprobs: [] })),
    });
  });
});

describe('gemini, streams that go wrong', () => {
  it('fail when they end without a finish', () => {
    expect(relay(frame([{ text: 'a' }])).failure).to.be.an('error');
    expect(relay().failure).to.be.an('error');
  });

  it('fail with the words of an error frame, in any shape, and read nothing after it', () => {
    const errors: readonly [unknown, string, (object | undefined)?][] = [
      [
        { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } },
        'The model is overloaded.',
        { kind: 'status', status: 503, reason: 'overload' },
      ],
      [{ error: 'broken' }, 'broken'],
      [
        [{ error: { code: 500, message: 'Internal', status: 'INTERNAL' } }],
        'Internal',
        { kind: 'status', status: 500, code: 'INTERNAL' },
      ],
      [{ error: { status: 'CANCELLED' } }, 'CANCELLED', { code: 'CANCELLED' }],
      [{ error: { code: 1 } }, 'the provider failed while answering'],
    ];
    for (const [error, words, more] of errors) {
      const { failure, chunks } = relay(frame([{ text: 'a' }]), error, frame([{ text: 'b' }], STOP));
      expect(failure, words).to.be.instanceOf(GatewayError);
      expect((failure as GatewayError).fault, words).to.deep.equal({
        kind: 'reply',
        message: words,
        ...more,
      });
      expect(chunks).to.have.length(1);
    }
  });

  it('read on over frames that are none, and errors that say nothing', () => {
    const text =
      'data: {broken\n\ndata: null\n\ndata: 7\n\ndata: []\n\ndata: "x"\n\ndata: {"error":null}\n\ndata: {"error":{}}\n\n: comment\n\nevent: ping\ndata: {}\n\n';
    const { reply, failure } = relayStream(gemini, call, [
      Buffer.concat([Buffer.from(text), sseBytes([frame([{ text: 'a' }], STOP)])]),
    ]);
    expect([failure, reply.choices[0]?.message.content]).to.deep.equal([undefined, 'a']);
  });

  it('read candidates of any shape', () => {
    const { reply, failure } = relay(
      { candidates: [null, { index: -1, content: 7 }, { index: 'x', content: { parts: [{ text: 'a' }] } }, 7] },
      { candidates: 7 },
      { candidates: [{ index: 1, ...STOP }] },
    );
    expect(failure).to.equal(undefined);
    expect(reply.choices).to.deep.equal([
      { index: 1, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' },
    ]);
  });

  it('keep what a frame says after a finish', () => {
    const stream = relay(frame([{ text: 'a' }], STOP), frame([{ text: 'b' }], STOP));
    expect(stream.reply.choices[0]).to.deep.include({
      message: { role: 'assistant', content: 'ab' },
      finish_reason: 'stop',
    });
    expect(deltas(stream)).to.have.length(2);
  });
});
