import { expect } from 'chai';
import type { ToolCall } from '../../host/contract/index.ts';
import gemini from '../../providers/gemini/index.ts';
import { callFor, golden, relayStream, type RelayedStream, sseBytes, translateReply } from '../kit/index.ts';

const MODEL = 'gemini-3-flash-preview';
const answer = (functionCalls: readonly unknown[], more: object = {}): object => ({
  candidates: [
    {
      content: { role: 'model', parts: functionCalls.map((functionCall) => ({ functionCall })) },
      finishReason: 'STOP',
    },
  ],
  ...more,
});
const callsOf = (body: object, exchangeId = '1'.repeat(32)): readonly ToolCall[] =>
  translateReply(gemini, callFor(MODEL, { exchangeId }), body).choices[0]?.message.tool_calls ?? [];
const streamed = (bodies: readonly object[], exchangeId = '1'.repeat(32)): RelayedStream =>
  relayStream(gemini, callFor(MODEL, { stream: true, exchangeId }), [sseBytes(bodies)]);
const CALL = { name: 'f', args: { a: 1 } };

describe('gemini, arguments of calls', () => {
  it('may come as the text of an object', () => {
    const body = answer([{ name: 'f', args: '{"a":[1]}' }]);
    for (const calls of [callsOf(body), streamed([body]).reply.choices[0]?.message.tool_calls])
      expect(calls?.[0]?.function).to.deep.equal({ name: 'f', arguments: '{"a":[1]}' });
  });
});

describe('gemini, ids of calls', () => {
  it('differ between the turns of a conversation, the calls of a turn and the candidates of an answer', () => {
    const twice = {
      candidates: [0, 1].map((index) => ({
        index,
        content: { parts: [{ functionCall: CALL }, { functionCall: CALL }] },
        finishReason: 'STOP',
      })),
    };
    const turns = ['a', 'b', 'c'].flatMap((responseId) =>
      translateReply(gemini, callFor(MODEL), { ...twice, responseId }).choices.flatMap(
        ({ message }) => message.tool_calls ?? [],
      ),
    );
    expect(new Set(turns.map(({ id }) => id))).to.have.property('size', 12);
    expect(
      new Set(['x', 'y'].flatMap((exchangeId) => callsOf(answer([CALL]), exchangeId)).map(({ id }) => id)),
      'answers without an id',
    ).to.have.property('size', 2);
  });

  it('are the same however the answer comes, and each time it is read', () => {
    for (const more of [{ responseId: 'r' }, {}]) {
      const whole = callsOf(answer([CALL, CALL], more));
      expect(callsOf(answer([CALL, CALL], more))).to.deep.equal(whole);
      expect(
        streamed([
          { ...answer([CALL]), candidates: [{ content: { parts: [{ functionCall: CALL }] } }], ...more },
          answer([CALL], more),
        ]).reply.choices[0]?.message.tool_calls,
      ).to.deep.equal(whole);
    }
  });

  it("are short and plain enough for every vendor that may answer next, and the vendor's own where it gives one", () => {
    for (const responseId of ['r', 'x'.repeat(200), 'ids/with: strange é'])
      expect(callsOf(answer([CALL], { responseId }))[0]?.id).to.match(/^[\w-]{1,40}$/);
    expect(callsOf(answer([{ ...CALL, id: 'own' }]))[0]?.id).to.equal('own');
  });
});

describe('gemini, calls in pieces', () => {
  const pieces = (...calls: readonly object[]): RelayedStream =>
    streamed([
      ...calls.map((functionCall) => ({ candidates: [{ content: { parts: [{ functionCall }] } }] })),
      { candidates: [{ finishReason: 'STOP' }] },
    ]);
  const more = (...partialArgs: readonly object[]): object => ({ partialArgs, willContinue: true });
  const argumentsOf = ({ reply, failure }: RelayedStream): unknown => {
    expect(failure).to.equal(undefined);
    return JSON.parse(reply.choices[0]?.message.tool_calls?.[0]?.function.arguments ?? 'null');
  };
  const BEGIN = { name: 'f', willContinue: true };

  it('are one call with all of its arguments, beside whole ones', () => {
    const { reply, chunks, failure } = relayStream(gemini, callFor(MODEL), [
      Buffer.from(golden('gemini/chat/partial-call.txt')),
    ]);
    expect(failure).to.equal(undefined);
    const [first, second] = reply.choices[0]?.message.tool_calls ?? [];
    expect(JSON.parse(first?.function.arguments ?? '')).to.deep.equal({
      location: 'New Delhi',
      days: [{ hours: [6, 12], exact: true }],
      unit: null,
      tags: [],
    });
    expect(first).to.deep.include({
      type: 'function',
      extra_content: { google: { thought_signature: 'Q2FsbFNpZw==' } },
    });
    expect(reply.choices[0]?.message.reasoning_details).to.deep.equal([
      { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', id: first?.id, data: 'Q2FsbFNpZw==' },
    ]);
    expect([first?.function.name, second?.function]).to.deep.equal([
      'get_weather',
      { name: 'get_time', arguments: '{"zone":"IST"}' },
    ]);
    expect(reply.choices[0]?.finish_reason).to.equal('tool_calls');
    expect(
      chunks.flatMap(({ choices: [choice] }) => choice.delta.tool_calls ?? []).map(({ index }) => index),
    ).to.deep.equal([0, 1]);
  });

  it('may end with their last arguments, begin with some, and interleave by their ids', () => {
    expect(
      argumentsOf(
        pieces(
          { name: 'f', args: { a: 1 }, ...more({ jsonPath: '$.b', stringValue: 'x', willContinue: true }) },
          { partialArgs: [{ jsonPath: '$.b', stringValue: 'y' }] },
        ),
      ),
    ).to.deep.equal({ a: 1, b: 'xy' });
    const two = pieces(
      { ...BEGIN, id: 'p' },
      { ...BEGIN, id: 'q' },
      { id: 'p', ...more({ jsonPath: '$.n', numberValue: 1 }) },
      { id: 'q', partialArgs: [{ jsonPath: '$.n', numberValue: 2 }] },
      { id: 'p' },
    );
    expect(
      two.reply.choices[0]?.message.tool_calls?.map(({ id, function: { arguments: json } }) => [id, json]),
    ).to.have.deep.members([
      ['p', '{"n":1}'],
      ['q', '{"n":2}'],
    ]);
    expect(argumentsOf(pieces(BEGIN, {})), 'a function that takes nothing').to.deep.equal({});
  });

  it('are read from paths of every form', () => {
    const paths: readonly [string, object][] = [
      ['$.a.b', { a: { b: 7 } }],
      ['$["a b"]["c\\"d"]', { 'a b': { 'c"d': 7 } }],
      ["$['a.b'].c", { 'a.b': { c: 7 } }],
      ['a.b', { a: { b: 7 } }],
      ['$.a[0][0].b', { a: [[{ b: 7 }]] }],
      ['$.__proto__.x', JSON.parse('{"__proto__":{"x":7}}')],
      ['$.größe', { größe: 7 }],
    ];
    for (const [jsonPath, expected] of paths)
      expect(argumentsOf(pieces(BEGIN, { partialArgs: [{ jsonPath, numberValue: 7 }] })), jsonPath).to.deep.equal(
        expected,
      );
    expect(
      argumentsOf(
        pieces(BEGIN, {
          partialArgs: [
            { jsonPath: '$.o' },
            { jsonPath: '$.l[]' },
            { jsonPath: '$.s', stringValue: '' },
            { jsonPath: '$.f', boolValue: false },
          ],
        }),
      ),
    ).to.deep.equal({ o: {}, l: [], s: '', f: false });
  });

  it('are a failure when something is missing or fits nowhere, never a call without its arguments', () => {
    const values: readonly (readonly [string, readonly object[]])[] = [
      ['without a beginning', [more({ jsonPath: '$.a', numberValue: 1 })]],
      ['without an end', [BEGIN, more({ jsonPath: '$.a', numberValue: 1 })]],
      ['without a path', [BEGIN, more({ numberValue: 1 })]],
      ['with a path that cannot be read', [BEGIN, more({ jsonPath: '$..a', numberValue: 1 })]],
      ['with a value for all', [BEGIN, more({ jsonPath: '$', numberValue: 1 })]],
      ['inside a value', [BEGIN, more({ jsonPath: '$.a', numberValue: 1 }, { jsonPath: '$.a.b', numberValue: 1 })]],
      ['with a gap in a list', [BEGIN, more({ jsonPath: '$.a[1]', numberValue: 1 })]],
      [
        'with a name in a list',
        [BEGIN, more({ jsonPath: '$.a[0]', numberValue: 1 }, { jsonPath: '$.a.b', numberValue: 1 })],
      ],
      ['too deep', [BEGIN, more({ jsonPath: `$${'.a'.repeat(100)}`, numberValue: 1 })]],
    ];
    for (const [what, calls] of values) {
      const { failure, reply } = pieces(...calls);
      expect(failure, what).to.be.an('error');
      expect(reply.choices[0]?.message.tool_calls, what).to.equal(undefined);
    }
  });

  it('cut off by the ceiling are left out, and the answer says so', () => {
    const { reply, failure } = streamed([
      { candidates: [{ content: { parts: [{ text: 'so' }, { functionCall: BEGIN }] } }] },
      { candidates: [{ finishReason: 'MAX_TOKENS' }] },
    ]);
    expect([failure, reply.choices[0]]).to.deep.equal([
      undefined,
      { index: 0, message: { role: 'assistant', content: 'so' }, finish_reason: 'length' },
    ]);
  });

  it('are read in whole answers too', () => {
    expect(callsOf(answer([BEGIN, { partialArgs: [{ jsonPath: '$.a', numberValue: 1 }] }]))[0]?.function).to.deep.equal(
      { name: 'f', arguments: '{"a":1}' },
    );
    expect(() => callsOf(answer([BEGIN]))).to.throw('inside a function call');
  });
});
