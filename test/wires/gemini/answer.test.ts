import { expect } from 'chai';
import { openEnvelope, sealEnvelope } from '../../../builtins/wires/envelope.ts';
import { type AnswerFacts, writeAnswer } from '../../../builtins/wires/gemini/answer/answer.ts';
import { finishWord } from '../../../builtins/wires/gemini/answer/finish.ts';
import { usageMetadata } from '../../../builtins/wires/gemini/answer/usage.ts';
import { GatewayError } from '../../../host/contract/index.ts';

type Json = Record<string, any>;

const FACTS: AnswerFacts = { includesThoughts: false, wantsLogprobs: false, ownName: (name) => name };
const THOUGHTS = { ...FACTS, includesThoughts: true };

function candidate(message: Json, finish: string | null = 'stop', facts = FACTS, more: Json = {}): Json {
  const reply = {
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: finish, ...more }],
  };
  const answer: Json = writeAnswer(reply, facts, 'id');
  return answer['candidates'][0];
}
const parts = (message: Json, facts = FACTS): Json[] => candidate(message, 'stop', facts)['content'].parts;
const call = (id: string, args = '{}', more: Json = {}): Json => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: args },
  ...more,
});

describe('an answer in the form of the Gemini API', () => {
  it('has candidates, usage, the model and the id of the request', () => {
    const choices = ['a', 'b'].map((content, index) => ({
      index,
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    }));
    expect(
      writeAnswer(
        { model: 'm', choices, usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
        FACTS,
        'id',
      ),
    ).to.deep.equal({
      candidates: ['a', 'b'].map((text, index) => ({
        content: { role: 'model', parts: [{ text }] },
        finishReason: 'STOP',
        index,
      })),
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      modelVersion: 'm',
      responseId: 'id',
    });
  });

  for (const [reason, word] of [
    ['stop', 'STOP'],
    ['tool_calls', 'STOP'],
    [null, 'STOP'],
    ['', 'STOP'],
    ['length', 'MAX_TOKENS'],
    ['content_filter', 'SAFETY'],
    ['pause_turn', 'OTHER'],
    ['LANGUAGE', 'LANGUAGE'],
    ['MALFORMED_FUNCTION_CALL', 'MALFORMED_FUNCTION_CALL'],
    ['NO_IMAGE', 'NO_IMAGE'],
    ['eos', 'OTHER'],
    ['constructor', 'OTHER'],
  ] as const)
    it(`says ${word} for ${String(reason)}`, () => {
      expect(finishWord(reason)).to.equal(word);
    });

  for (const [usage, expected] of [
    [undefined, [0, undefined, 0, undefined, 0]],
    [
      {
        prompt_tokens: 10,
        completion_tokens: 7,
        total_tokens: 17,
        reasoning_tokens: 3,
        cache_read_tokens: 4,
        cache_write_tokens: 5,
      },
      [15, 4, 4, 3, 22],
    ],
    [{ prompt_tokens: 10, completion_tokens: 7, total_tokens: 17 }, [10, undefined, 7, undefined, 17]],
  ] as const) {
    it(`counts ${JSON.stringify(usage)}`, () => {
      const counted: Json = usageMetadata(usage);
      expect(
        [
          'promptTokenCount',
          'cachedContentTokenCount',
          'candidatesTokenCount',
          'thoughtsTokenCount',
          'totalTokenCount',
        ].map((name) => counted[name]),
      ).to.deep.equal(expected);
    });
  }

  it('has an empty text where there is nothing else', () => {
    expect(parts({})).to.deep.equal([{ text: '' }]);
  });
  it('has no part where the model refused', () => {
    expect(candidate({ refusal: 'no' })).to.deep.equal({
      content: { role: 'model', parts: [] },
      finishReason: 'SAFETY',
      finishMessage: 'no',
      index: 0,
    });
    expect(candidate({}, 'content_filter')).to.deep.equal({
      content: { role: 'model', parts: [] },
      finishReason: 'SAFETY',
      index: 0,
    });
  });

  it('has calls with every digit, and the names the client gave', () => {
    const facts = { ...FACTS, ownName: (name: string) => `own ${name}` };
    const [called] = candidate({ tool_calls: [call('c', '{"n":12345678901234567890}')] }, 'tool_calls', facts)[
      'content'
    ].parts;
    expect(JSON.stringify(called)).to.equal(
      '{"functionCall":{"id":"c","name":"own f","args":{"n":12345678901234567890}}}',
    );
    expect(parts({ tool_calls: [call('c', ' ')] })).to.deep.equal([{ functionCall: { id: 'c', name: 'f', args: {} } }]);
  });

  for (const args of ['{"a":', '[]', '7', 'text']) {
    it(`is a fault of the provider with the arguments ${args}`, () => {
      expect(() => parts({ tool_calls: [call('c', args)] }))
        .to.throw(GatewayError)
        .that.includes({ status: 502, code: 'upstream_error' });
    });
  }

  it('leaves thoughts out unless they are asked for', () => {
    expect(parts({ content: 'a', reasoning_content: 'hm' })).to.deep.equal([{ text: 'a' }]);
    expect(parts({ content: 'a', reasoning_content: 'hm' }, THOUGHTS)).to.deep.equal([
      { text: 'hm', thought: true, thoughtSignature: sealEnvelope([]) },
      { text: 'a' },
    ]);
  });

  const CLAUDE = [
    { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'one', signature: 's1' },
    { type: 'reasoning.encrypted', index: 1, format: 'anthropic-claude-v1', data: 'sealed' },
    { type: 'reasoning.text', index: 2, format: 'anthropic-claude-v1', text: 'two', signature: 's2' },
  ];

  it('has secrets of other vendors on their thoughts, and with the texts on the first call', () => {
    const [one, two, called, other] = parts(
      { reasoning_content: 'onetwo', reasoning_details: CLAUDE, tool_calls: [call('c'), call('d')] },
      THOUGHTS,
    );
    expect([one?.['text'], two?.['text'], one?.['thought'], other?.['thoughtSignature']]).to.deep.equal([
      'one',
      'two',
      true,
      undefined,
    ]);
    expect(openEnvelope(one?.['thoughtSignature'])).to.deep.equal([
      { type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 's1' },
    ]);
    expect(openEnvelope(two?.['thoughtSignature'])).to.deep.equal([
      { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', data: 'sealed' },
      { type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 's2' },
    ]);
    expect(openEnvelope(called?.['thoughtSignature'])).to.deep.equal(CLAUDE.map(({ index: _index, ...item }) => item));
  });

  it('has them on the text of a client that wants no thoughts', () => {
    const [text] = parts({ content: 'a', reasoning_content: 'onetwo', reasoning_details: CLAUDE });
    expect([text?.['text'], openEnvelope(text?.['thoughtSignature'])?.length]).to.deep.equal(['a', 3]);
  });

  it('has thoughts without a secret on the first call too', () => {
    const [called] = parts({ reasoning_content: 'hm', tool_calls: [call('c')] });
    expect(openEnvelope(called?.['thoughtSignature'])).to.deep.equal([{ type: 'reasoning.text', text: 'hm' }]);
  });

  it('has signatures of its own vendor at their places', () => {
    const own = (index: number, place: Json, data: string): Json => ({
      type: 'reasoning.encrypted',
      index,
      format: 'google-gemini-v1',
      ...place,
      data,
    });
    const details = [
      own(0, { start: 2, end: 4 }, 'text'),
      own(1, { id: 'd' }, 'call'),
      own(2, { thought: true, start: 0, end: 2 }, 'thought'),
    ];
    expect(
      parts(
        { content: 'abcdef', reasoning_content: 'hm', reasoning_details: details, tool_calls: [call('c'), call('d')] },
        THOUGHTS,
      ),
    ).to.deep.equal([
      { text: 'hm', thought: true, thoughtSignature: 'thought' },
      { text: 'ab' },
      { text: 'cd', thoughtSignature: 'text' },
      { text: 'ef' },
      { functionCall: { id: 'c', name: 'f', args: {} } },
      { functionCall: { id: 'd', name: 'f', args: {} }, thoughtSignature: 'call' },
    ]);
    expect(
      parts({ tool_calls: [call('c', '{}', { extra_content: { google: { thought_signature: 'beside' } } })] })[0],
    ).to.include({ thoughtSignature: 'beside' });
  });

  it('has sources and probabilities', () => {
    expect(
      candidate({
        content: 'a',
        annotations: [{ type: 'url_citation', url_citation: { url: 'https://h/', title: 't' } }, { type: 'other' }],
      })['groundingMetadata'],
    ).to.deep.equal({ groundingChunks: [{ web: { uri: 'https://h/', title: 't' } }] });
    const logprobs = { content: [{ token: 'a', logprob: -1, top_logprobs: [{ token: 'b', logprob: -2 }] }] };
    expect(candidate({ content: 'a' }, 'stop', FACTS, { logprobs })).to.not.have.property('logprobsResult');
    expect(
      candidate({ content: 'a' }, 'stop', { ...FACTS, wantsLogprobs: true }, { logprobs })['logprobsResult'],
    ).to.deep.equal({
      topCandidates: [{ candidates: [{ token: 'b', logProbability: -2 }] }],
      chosenCandidates: [{ token: 'a', logProbability: -1 }],
    });
  });
});
