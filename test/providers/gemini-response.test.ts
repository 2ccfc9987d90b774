import { expect } from 'chai';
import type { ChatMessage, ChatReply } from '../../host/contract/index.ts';
import gemini from '../../providers/gemini/index.ts';
import { ask, callFor, golden, sentBy, translateReply, unaryReply } from '../kit/index.ts';

const call = callFor('gemini-3-flash-preview');
const goldenBody = (file: string): any => JSON.parse(golden(`gemini/chat/${file}`));
const replyOf = (body: unknown): ChatReply => translateReply(gemini, call, body);
const candidate = (parts: unknown, more: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', ...more }],
});
const TEXT = [{ text: 'a' }];
/** Ids that we make, for calls to which the vendor gives none. */
const OWN_ID = /^call_[0-9a-f]{24}$/;
const CALL = { functionCall: { name: 'f', args: {} } };

describe('gemini, answers', () => {
  it('are read whole', () => {
    const { id, choices, usage } = replyOf(goldenBody('reply.json'));
    expect({ id, choices, usage }).to.deep.equal({
      id: 'Il0taoSYJ5Cez7IP',
      choices: [{ index: 0, message: { role: 'assistant', content: 'conformance ok' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    });
    expect(replyOf(candidate(TEXT)).id).to.equal('gemini-3-flash-preview');
  });

  it('hold thoughts, calls, signatures with their places, and every kind of token', () => {
    const {
      choices: [choice],
      usage,
    } = replyOf(goldenBody('thinking.json'));
    const own = choice?.message.tool_calls?.[1]?.id;
    expect(own).to.match(OWN_ID);
    expect(choice).to.deep.equal({
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: 'Checking both.',
        reasoning_content: 'Two cities, two lookups.',
        reasoning_details: [
          { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', id: 'fc-1', data: 'Q2FsbFNpZw==' },
        ],
        tool_calls: [
          {
            id: 'fc-1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Paris"}' },
            extra_content: { google: { thought_signature: 'Q2FsbFNpZw==' } },
          },
          { id: own, type: 'function', function: { name: 'get_weather', arguments: '{"city":"London","days":2}' } },
        ],
      },
    });
    expect(usage).to.deep.equal({
      prompt_tokens: 120,
      completion_tokens: 80,
      total_tokens: 200,
      reasoning_tokens: 50,
      cache_read_tokens: 64,
      prompt_tokens_details: { cached_tokens: 64 },
      completion_tokens_details: { reasoning_tokens: 50 },
    });
  });

  it('have a choice per candidate', () => {
    const { choices } = replyOf({
      candidates: [
        { content: { parts: TEXT }, finishReason: 'STOP' },
        { content: { parts: [CALL, CALL] }, finishReason: 'STOP' },
        { finishReason: 'SAFETY' },
      ],
    });
    expect(
      choices.map(({ index, message: { content }, finish_reason: finish }) => [index, content, finish]),
    ).to.deep.equal([
      [0, 'a', 'stop'],
      [1, null, 'tool_calls'],
      [2, null, 'content_filter'],
    ]);
    expect(choices[1]?.message.tool_calls).to.have.length(2);
  });

  it('end as the vendor says, where every reason but a stop outranks calls', () => {
    const finishOf = (finishReason: unknown, parts: unknown = TEXT): unknown =>
      replyOf(candidate(parts, { finishReason })).choices[0]?.finish_reason;
    expect(
      ['MAX_TOKENS', 'SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'IMAGE_SAFETY'].map((reason) =>
        finishOf(reason),
      ),
    ).to.deep.equal(['length', ...Array.from({ length: 6 }, () => 'content_filter')]);
    for (const reason of ['OTHER', 'MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'LANGUAGE'])
      expect(finishOf(reason)).to.equal(reason);
    expect([
      finishOf('STOP', [CALL]),
      finishOf('MAX_TOKENS', [CALL]),
      finishOf('SAFETY', [CALL]),
      finishOf('MALFORMED_FUNCTION_CALL', [CALL]),
    ]).to.deep.equal(['tool_calls', 'length', 'content_filter', 'MALFORMED_FUNCTION_CALL']);
    for (const absent of [undefined, null, '', 'FINISH_REASON_UNSPECIFIED', 7])
      expect(finishOf(absent), String(absent)).to.equal(null);
  });

  it('to a blocked prompt are a refusal, never without a choice', () => {
    expect(replyOf(goldenBody('blocked.json'))).to.deep.include({
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, refusal: 'the prompt was blocked: PROHIBITED_CONTENT' },
          finish_reason: 'content_filter',
        },
      ],
      usage: { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 },
    });
    expect(
      replyOf({ candidates: [], promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'No.' } }).choices[0]
        ?.message['refusal'],
    ).to.equal('No.');
  });

  it('without candidates and without a reason are unusable', () => {
    for (const body of [
      {},
      { promptFeedback: { blockReason: 'BLOCK_REASON_UNSPECIFIED' } },
      { candidates: [] },
      { candidates: null },
      { candidates: [null, 7] },
      { promptFeedback: {} },
      { promptFeedback: { blockReason: '' } },
    ]) {
      expect(() => replyOf(body), JSON.stringify(body)).to.throw('the answer holds no candidates');
    }
    for (const body of [null, [], 7]) expect(() => replyOf(body), JSON.stringify(body)).to.throw('not a JSON object');
  });

  it('survive parts of any shape', () => {
    const parts = [
      null,
      7,
      [],
      {},
      { text: 7 },
      { thought: true },
      { thought: 'yes', text: 'b' },
      { functionCall: 7 },
      { functionCall: { name: 7 } },
      { functionCall: { name: 'f', id: 7, args: [1] } },
      { inlineData: null },
      { inlineData: { data: 7 } },
      { thoughtSignature: 7, text: 'c' },
    ];
    const { tool_calls: calls = [], ...message } = replyOf(candidate(parts)).choices[0]?.message ?? expect.fail();
    expect(message).to.deep.equal({ role: 'assistant', content: 'bc' });
    expect(calls.map(({ id, ...call }) => [OWN_ID.test(id ?? ''), call])).to.deep.equal([
      [true, { type: 'function', function: { name: 'f', arguments: '{}' } }],
    ]);
    for (const content of [null, 7, [], { parts: null }, { parts: 'x' }])
      expect(
        replyOf({ candidates: [{ content, finishReason: 'STOP' }] }).choices[0]?.message,
        JSON.stringify(content),
      ).to.deep.equal({ role: 'assistant', content: null });
  });

  it('hold images as parts of the kind that clients send', () => {
    expect(
      replyOf(candidate([{ text: 'see' }, { inlineData: { mimeType: 'image/webp', data: 'AAAA' } }])).choices[0]
        ?.message,
    ).to.deep.equal({
      role: 'assistant',
      content: 'see',
      images: [{ type: 'image_url', image_url: { url: 'data:image/webp;base64,AAAA' } }],
    });
  });

  it('hold log probabilities in the common form', () => {
    const logprobsResult = {
      chosenCandidates: [
        { token: 'é', tokenId: 1, logProbability: -0.1 },
        { token: 7 },
        { token: '!', logProbability: -2 },
      ],
      topCandidates: [
        { candidates: [{ token: 'é', logProbability: -0.1 }, { token: 'e', logProbability: -3 }, null] },
        null,
      ],
    };
    expect(replyOf(candidate(TEXT, { logprobsResult })).choices[0]?.logprobs).to.deep.equal({
      content: [
        {
          token: 'é',
          logprob: -0.1,
          bytes: [195, 169],
          top_logprobs: [
            { token: 'é', logprob: -0.1, bytes: [195, 169] },
            { token: 'e', logprob: -3, bytes: [101] },
          ],
        },
        { token: '!', logprob: -2, bytes: [33], top_logprobs: [] },
      ],
    });
    for (const result of [null, 7, {}, { chosenCandidates: 7 }])
      expect(
        replyOf(candidate(TEXT, { logprobsResult: result })).choices[0],
        JSON.stringify(result),
      ).to.not.have.property('logprobs');
  });

  it('tell usage only when something was counted', () => {
    for (const usageMetadata of [undefined, null, 7, {}, { promptTokenCount: 'x', totalTokenCount: -1 }])
      expect(replyOf({ ...candidate(TEXT), usageMetadata })).to.not.have.property('usage');
    expect(
      replyOf({ ...candidate(TEXT), usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 } }).usage,
    ).to.deep.equal({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 });
    const searched = {
      promptTokenCount: 3,
      toolUsePromptTokenCount: 40,
      candidatesTokenCount: 2,
      thoughtsTokenCount: 5,
      totalTokenCount: 50,
    };
    expect(replyOf({ ...candidate(TEXT), usageMetadata: searched }).usage).to.include({
      prompt_tokens: 43,
      completion_tokens: 7,
      total_tokens: 50,
    });
  });
});

describe('gemini, thought signatures', () => {
  const round = async (
    parts: readonly object[],
    model = 'gemini-2.5-flash',
    edit: (message: any) => any = (message) => message,
  ): Promise<unknown> => {
    const reply = gemini.translators.chat?.fromUpstream(
      unaryReply(candidate(parts)),
      callFor(model),
      ask('hi') as never,
    );
    const message = edit(JSON.parse(JSON.stringify(reply?.choices[0]?.message))) as ChatMessage;
    const { body } = await sentBy(gemini, 'chat', {
      model,
      messages: [{ role: 'user', content: 'hi' }, message, { role: 'user', content: 'go on' }],
    });
    return body.contents[1].parts;
  };

  it('come back on their parts, in a second turn with the results of tools', async () => {
    const reply = replyOf(goldenBody('thinking.json'));
    const own = reply.choices[0]?.message.tool_calls?.[1]?.id as string;
    const { body } = await sentBy(gemini, 'chat', {
      model: 'gemini-3-flash-preview',
      messages: [
        { role: 'user', content: 'weather?' },
        reply.choices[0]?.message as ChatMessage,
        { role: 'tool', tool_call_id: 'fc-1', content: '{"sky":"grey"}' },
        { role: 'tool', tool_call_id: own, content: 'rain' },
      ],
    });
    expect(body.contents).to.deep.equal([
      { role: 'user', parts: [{ text: 'weather?' }] },
      {
        role: 'model',
        parts: [
          { text: 'Checking both.' },
          {
            functionCall: { id: 'fc-1', name: 'get_weather', args: { city: 'Paris' } },
            thoughtSignature: 'Q2FsbFNpZw==',
          },
          { functionCall: { id: own, name: 'get_weather', args: { city: 'London', days: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'fc-1', name: 'get_weather', response: { sky: 'grey' } } },
          { functionResponse: { id: own, name: 'get_weather', response: { result: 'rain' } } },
        ],
      },
    ]);
  });

  it('on texts keep their cuts, empty parts included', async () => {
    for (const parts of [
      [{ text: 'Hello' }, { text: '', thoughtSignature: 'U2ln' }],
      [{ text: 'Hello', thoughtSignature: 'U2ln' }],
      [
        { text: 'He' },
        { text: 'llo', thoughtSignature: 'QQ==' },
        { text: ', w' },
        { text: 'orld', thoughtSignature: 'Qg==' },
        { text: '!' },
      ],
      [{ text: 'thought', thought: true, thoughtSignature: 'VA==' }, { text: 'said' }],
    ])
      expect(await round(parts)).to.deep.equal(parts);
  });

  it('on thoughts need no text to come back, and unsigned thoughts stay behind', async () => {
    const parts = [
      { text: 'one', thought: true },
      { text: 'two', thought: true, thoughtSignature: 'VA==' },
      { text: 'said' },
    ];
    expect(await round(parts)).to.deep.equal([
      { text: 'two', thought: true, thoughtSignature: 'VA==' },
      { text: 'said' },
    ]);
    const withoutText = ({ reasoning_content: _text, ...message }: any): any => message;
    expect(await round(parts, 'gemini-2.5-flash', withoutText)).to.deep.equal([
      { text: '', thought: true, thoughtSignature: 'VA==' },
      { text: 'said' },
    ]);
  });

  it('survive a text that was changed since', async () => {
    const parts = [{ text: 'Hello ' }, { text: 'world', thoughtSignature: 'U2ln' }];
    expect(await round(parts, 'gemini-2.5-flash', (message) => ({ ...message, content: 'Hi' }))).to.deep.equal([
      { text: 'Hi' },
      { text: '', thoughtSignature: 'U2ln' },
    ]);
    expect(
      await round(parts, 'gemini-2.5-flash', (message) => ({ ...message, content: 'Hello world, and more' })),
    ).to.deep.equal([{ text: 'Hello ' }, { text: 'world', thoughtSignature: 'U2ln' }, { text: ', and more' }]);
  });

  it('of other vendors are not sent, and neither is what only looks like one', async () => {
    const foreign =
      (...reasoning_details: unknown[]) =>
      (message: any): any => ({ ...message, reasoning_details });
    const strange = [
      null,
      7,
      { format: 'anthropic-claude-v1', data: 'x', start: 0, end: 1 },
      { format: 'google-gemini-v1', data: 7, start: 0, end: 1 },
      { format: 'google-gemini-v1', data: 'x', start: 3, end: 1 },
      { format: 'google-gemini-v1', data: 'x', start: -1, end: 1 },
    ];
    expect(await round([{ text: 'a' }], 'gemini-2.5-flash', foreign(...strange))).to.deep.equal([{ text: 'a' }]);
  });

  it('stand in for those that calls of newer models must have, once per turn', async () => {
    const history = [{ functionCall: { name: 'a', args: {} } }, { functionCall: { name: 'b', args: {} } }];
    const signatures = async (model: string): Promise<unknown[]> =>
      ((await round(history, model)) as any[]).map(({ functionCall: { name }, thoughtSignature: signature }) => [
        name,
        signature,
      ]);
    expect(await signatures('gemini-3-flash-preview')).to.deep.equal([
      ['a', 'skip_thought_signature_validator'],
      ['b', undefined],
    ]);
    expect(await signatures('gemini-2.5-flash')).to.deep.equal([
      ['a', undefined],
      ['b', undefined],
    ]);
  });

  it("are also read where the vendor's compatible endpoint keeps them", async () => {
    const moved = (message: any): any => ({
      ...message,
      tool_calls: message.tool_calls.map((one: object) => ({
        ...one,
        extra_content: { google: { thought_signature: 'T3RoZXI=' } },
      })),
    });
    const [part] = (await round([CALL], 'gemini-3-flash-preview', moved)) as any[];
    expect(part).to.deep.include({ thoughtSignature: 'T3RoZXI=' });
  });

  it("of calls are also sent where the vendor's compatible endpoint keeps them, and come back from there alone", async () => {
    const parts = [{ functionCall: { id: 'own', name: 'f', args: {} }, thoughtSignature: 'T3RoZXI=' }];
    const reply = replyOf(candidate(parts));
    expect(reply.choices[0]?.message.tool_calls?.[0]?.['extra_content']).to.deep.equal({
      google: { thought_signature: 'T3RoZXI=' },
    });
    const withoutDetails = ({ reasoning_details: _details, ...message }: any): any => message;
    expect(await round(parts, 'gemini-3-flash-preview', withoutDetails)).to.deep.equal(parts);
  });
});
