import { expect } from 'chai';
import bedrock from '../../providers/bedrock/index.ts';
import { callFor, expectStream, relayStream, translateReply, unaryReply } from '../kit/index.ts';
import {
  chunk,
  CLAUDE,
  event,
  exception,
  fixture,
  LLAMA,
  MISTRAL,
  NOVA,
  PROFILE,
  STRANGE,
  streamOf,
  TITAN,
} from './bedrock-support.ts';

const FAMILIES = [
  [CLAUDE, 'claude'],
  [NOVA, 'nova'],
  [TITAN, 'titan'],
  [LLAMA, 'llama'],
  [MISTRAL, 'converse'],
] as const;
const ID = 'bedrock-0123456789abcdef01234567';

const stream = (model: string, ...pieces: readonly Buffer[]): ReturnType<typeof relayStream> =>
  relayStream(bedrock, callFor(model, { stream: true }), pieces);
const text = (value: string): Buffer => event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: value } });
const stop = (stopReason: string): Buffer => event('messageStop', { stopReason });

const cite = (url: string, title: string, start_index: number, end_index: number, content: string): object => ({
  type: 'url_citation',
  url_citation: { url, title, start_index, end_index, content },
});
const CITED = [
  cite('https://tides.example/brest', 'https://tides.example/brest', 16, 36, 'Low water 12:00'),
  cite('almanac.txt', 'Almanac', 36, 52, 'W to NW'),
];

describe('bedrock, whole answers', () => {
  for (const [model, name] of FAMILIES) {
    it(`of ${name} are read`, () => {
      const reply = translateReply(bedrock, callFor(model), fixture(`chat/${name}-reply.json`));
      expect(reply.choices).to.deep.equal([
        { index: 0, message: { role: 'assistant', content: 'conformance ok' }, finish_reason: 'stop' },
      ]);
      expect(reply.usage).to.deep.equal({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
      expect(reply.id).to.equal(name === 'claude' ? 'msg_bdrk_01A6' : ID);
    });
  }

  it('of Converse hold thoughts, text, calls and what the cache did', () => {
    const {
      choices: [choice],
      usage,
    } = translateReply(bedrock, callFor(PROFILE), fixture('chat/converse-tools-reply.json'));
    expect(choice).to.deep.equal({
      index: 0,
      finish_reason: 'tool_calls',
      message: {
        role: 'assistant',
        content: "I'll look both up.",
        reasoning_content: 'Two places.',
        reasoning_details: [
          {
            type: 'reasoning.text',
            index: 0,
            format: 'anthropic-claude-v1',
            text: 'Two places.',
            signature: 'c2lnbmF0dXJl',
          },
        ],
        tool_calls: [
          { id: 'tooluse_1', type: 'function', function: { name: 'tide', arguments: '{"place":"Brest"}' } },
          { id: 'tooluse_2', type: 'function', function: { name: 'clock', arguments: '{}' } },
        ],
      },
    });
    expect(usage).to.deep.include({
      prompt_tokens: 10_000,
      completion_tokens: 70,
      total_tokens: 10_070,
      cache_read_tokens: 8000,
      cache_write_tokens: 600,
    });
  });

  it('hold the words that citations stand behind, and their sources where these have an address', () => {
    const {
      choices: [choice],
    } = translateReply(bedrock, callFor(MISTRAL), fixture('chat/converse-citations-reply.json'));
    expect(choice?.message).to.deep.equal({
      role: 'assistant',
      content: 'By the almanac, low tide is at noon. The wind turns.',
      annotations: CITED,
    });
    for (const citationsContent of [
      null,
      7,
      {},
      { content: 'x', citations: 'y' },
      { content: [null, { text: 3 }], citations: [null, {}, { location: { web: 'x' } }] },
    ]) {
      const reply = { output: { message: { content: [{ text: 'a' }, { citationsContent }] } }, stopReason: 'end_turn' };
      expect(
        translateReply(bedrock, callFor(MISTRAL), reply).choices[0]?.message,
        JSON.stringify(citationsContent),
      ).to.deep.equal({ role: 'assistant', content: 'a' });
    }
  });

  it('of tools alone hold no content, and of a structured answer that alone', () => {
    const answer = (...content: readonly object[]): any =>
      translateReply(bedrock, callFor(NOVA), { output: { message: { content } }, stopReason: 'tool_use' }).choices[0];
    const form = { toolUse: { toolUseId: 'a', name: 'gw_structured_answer', input: { place: 'Brest', depth: 3 } } };
    expect(answer({ toolUse: { toolUseId: 'a', name: 'f', input: {} } }).message.content).to.equal(null);
    expect(answer({ text: 'Here:' }, form)).to.deep.include({
      message: { role: 'assistant', content: '{"place":"Brest","depth":3}' },
      finish_reason: 'stop',
    });
    expect(answer(form, { toolUse: { toolUseId: 'b', name: 'f', input: {} } })).to.deep.include({
      finish_reason: 'tool_calls',
    });
  });

  it('keep the digits of large numbers in arguments', () => {
    const body =
      '{"output":{"message":{"content":[{"toolUse":{"toolUseId":"a","name":"f","input":{"id":12345678901234567890}}}]}},"stopReason":"tool_use"}';
    const reply = bedrock.translators.chat?.fromUpstream(unaryReply(body), callFor(NOVA), {} as never);
    expect(reply?.choices[0]?.message.tool_calls?.[0]?.function.arguments).to.equal('{"id":12345678901234567890}');
  });

  it('of Nova without a total have the sum, and of Llama through Converse are those of Converse', () => {
    expect(
      translateReply(bedrock, callFor(NOVA), {
        ...fixture('chat/nova-reply.json'),
        usage: { inputTokens: 3, outputTokens: 4 },
      }).usage,
    ).to.deep.equal({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
    expect(
      translateReply(bedrock, callFor(LLAMA), fixture('chat/converse-reply.json')).choices[0]?.message.content,
    ).to.equal('conformance ok');
  });

  it('of Titan are a choice per result', () => {
    const results = [
      { outputText: 'a', completionReason: 'LENGTH', tokenCount: 2 },
      { outputText: 'b', completionReason: 'CONTENT_FILTERED', tokenCount: 3 },
    ];
    const { choices, usage } = translateReply(bedrock, callFor(TITAN), { inputTextTokenCount: 1, results });
    expect(choices.map(({ index, message, finish_reason }) => [index, message.content, finish_reason])).to.deep.equal([
      [0, 'a', 'length'],
      [1, 'b', 'content_filter'],
    ]);
    expect(usage).to.deep.equal({ prompt_tokens: 1, completion_tokens: 5, total_tokens: 6 });
  });

  it('end for the reasons every client knows', () => {
    const titan = (completionReason: string): unknown =>
      translateReply(bedrock, callFor(TITAN), { results: [{ completionReason }] }).choices[0]?.finish_reason;
    expect(['FINISHED', 'FINISH', 'STOP_CRITERIA_MET', 'LENGTH'].map(titan)).to.deep.equal([
      'stop',
      'stop',
      'stop',
      'length',
    ]);
    const nova = (stopReason: unknown): unknown =>
      translateReply(bedrock, callFor(NOVA), { output: { message: { content: [] } }, stopReason }).choices[0]
        ?.finish_reason;
    const reasons = {
      end_turn: 'stop',
      stop_sequence: 'stop',
      max_tokens: 'length',
      model_context_window_exceeded: 'length',
      content_filtered: 'content_filter',
      guardrail_intervened: 'guardrail_intervened',
      tool_use: 'tool_calls',
    };
    for (const [native, common] of Object.entries(reasons)) expect(nova(native), native).to.equal(common);
    expect([nova(7), nova(''), nova(undefined)]).to.deep.equal([null, null, null]);
  });

  it('of no use are failures, whatever they hold', () => {
    for (const [model] of FAMILIES) {
      for (const body of [
        ...STRANGE,
        '{"output":null}',
        '{"output":{"message":{"content":"x"}}}',
        '{"results":[7]}',
        '{"generation":7}',
      ]) {
        expect(
          () => bedrock.translators.chat?.fromUpstream(unaryReply(body), callFor(model), {} as never),
          `${model} ${body}`,
        ).to.throw();
      }
    }
  });

  it('with members of other types are read for what is left', () => {
    const odd = {
      output: {
        message: {
          content: [
            null,
            7,
            { text: 7 },
            { toolUse: 'x' },
            { reasoningContent: { reasoningText: 7 } },
            { toolUse: { input: 'x' } },
            { text: 'kept' },
          ],
        },
      },
      stopReason: 'end_turn',
      usage: 7,
    };
    expect(translateReply(bedrock, callFor(NOVA), odd).choices[0]?.message).to.deep.equal({
      role: 'assistant',
      content: 'kept',
      tool_calls: [{ type: 'function', function: { name: '', arguments: '{}' } }],
    });
  });
});

describe('bedrock, streams', () => {
  for (const [model, name] of FAMILIES) {
    it(`of ${name} are read`, () => {
      const { chunks, failure, reply } = stream(model, streamOf(`chat/${name}-stream.json`));
      expect(failure).to.equal(undefined);
      expectStream([...chunks], 'routed', 'stop');
      expect(reply.id).to.equal(name === 'claude' ? 'msg_bdrk_01A6' : ID);
    });
  }

  it('of Converse hold thoughts, text, calls with indices and whole arguments, and usage after the end', () => {
    const { chunks, reply, failure } = stream(PROFILE, streamOf('chat/converse-tools-stream.json'));
    expect(failure).to.equal(undefined);
    const whole = translateReply(bedrock, callFor(PROFILE), fixture('chat/converse-tools-reply.json'));
    expect(reply).to.deep.equal({ ...whole, created: reply.created });
    const calls = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }: any) => delta.tool_calls ?? []));
    expect(calls).to.deep.equal([
      { index: 0, id: 'tooluse_1', type: 'function', function: { name: 'tide', arguments: '' } },
      { index: 0, function: { arguments: '{"place":' } },
      { index: 0, function: { arguments: '"Brest"}' } },
      { index: 1, id: 'tooluse_2', type: 'function', function: { name: 'clock', arguments: '' } },
      { index: 1, function: { arguments: '{}' } },
    ]);
    expect(chunks.at(-1)).to.deep.include({ choices: [] });
  });

  it('say with the end of each block what its text cite', () => {
    const { reply, chunks } = stream(MISTRAL, streamOf('chat/converse-citations-stream.json'));
    expect(reply.choices[0]?.message).to.deep.equal({
      role: 'assistant',
      content: 'By the almanac, low tide is at noon. The wind turns.',
      annotations: CITED,
    });
    expect(chunks.flatMap(({ choices }) => choices).filter(({ delta }) => 'annotations' in delta)).to.have.length(2);
  });

  it('that cite without end are failures', () => {
    const citation = event('contentBlockDelta', {
      contentBlockIndex: 0,
      delta: { citation: { title: 'x'.repeat(1024 * 1024) } },
    });
    expect(
      stream(MISTRAL, ...Array.from({ length: 17 }, () => citation), stop('end_turn')).failure,
    ).to.have.nested.property('cause.message', 'the answer cites without end');
  });

  it('of Llama and Nova may be those of Converse', () => {
    for (const model of [LLAMA, NOVA])
      expect(stream(model, streamOf('chat/converse-stream.json')).reply.choices[0]?.message.content, model).to.equal(
        'conformance ok',
      );
  });

  it('say that a call has no arguments before what comes behind its block', () => {
    const call = event('contentBlockStart', {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: 'a', name: 'tide' } },
    });
    const { chunks } = stream(
      NOVA,
      call,
      event('contentBlockStop', { contentBlockIndex: 0 }),
      text('b'),
      event('contentBlockStop', { contentBlockIndex: 0 }),
      stop('tool_use'),
    );
    expect(
      chunks.map(
        ({ choices: [choice] }: any) => choice.delta.content ?? choice.delta.tool_calls?.[0].function.arguments,
      ),
    ).to.deep.equal(['', '{}', 'b', undefined]);
  });

  it('of a structured answer are content, also an empty one', () => {
    const open = event('contentBlockStart', {
      contentBlockIndex: 0,
      start: { toolUse: { toolUseId: 'a', name: 'gw_structured_answer' } },
    });
    const pieces = ['{"place":', '"Brest"}'].map((input) =>
      event('contentBlockDelta', { contentBlockIndex: 0, delta: { toolUse: { input } } }),
    );
    expect(stream(NOVA, open, ...pieces, stop('tool_use')).reply.choices[0]).to.deep.equal({
      index: 0,
      message: { role: 'assistant', content: '{"place":"Brest"}' },
      finish_reason: 'stop',
    });
    expect(stream(NOVA, open, stop('tool_use')).reply.choices[0]?.message.content).to.equal('{}');
  });

  it('hold sealed thoughts as items of their own', () => {
    const think = (reasoningContent: object, contentBlockIndex = 0): Buffer =>
      event('contentBlockDelta', { contentBlockIndex, delta: { reasoningContent } });
    const { reply } = stream(
      PROFILE,
      think({ redactedContent: 'c2VhbGVk' }),
      think({ text: 'a' }, 1),
      think({ signature: 's' }, 1),
      text('b'),
      stop('end_turn'),
    );
    expect(reply.choices[0]?.message.reasoning_details).to.deep.equal([
      { type: 'reasoning.encrypted', index: 0, format: 'anthropic-claude-v1', data: 'c2VhbGVk' },
      { type: 'reasoning.text', index: 1, format: 'anthropic-claude-v1', text: 'a', signature: 's' },
    ]);
  });

  it('without an end are failures', () => {
    for (const [model, name] of FAMILIES) {
      const events: readonly any[] = fixture(`chat/${name}-stream.json`);
      const first = events
        .slice(0, 2)
        .map((one) => (Array.isArray(one) ? event(one[0], one[1]) : chunk({ ...one, completionReason: null })));
      expect(stream(model, ...first).failure, name).to.include({ code: 'upstream_error' });
      const bytes = streamOf(`chat/${name}-stream.json`);
      expect(stream(model, bytes.subarray(0, -3)).failure, `${name}, cut in a frame`).to.include({
        code: 'upstream_error',
      });
    }
  });

  it("of families that complete text end where a guardrail of the service stepped in, without a reason of the model's", () => {
    const acted = { 'amazon-bedrock-guardrailAction': 'INTERVENED' };
    // Shape: traceloop/openllmetry, recorded InvokeModelWithResponseStream of Titan with a blocked input, 2026-11-23.
    const titan = { outputText: 'Sorry, blocked.', index: 0.0, totalOutputTextTokenCount: 3, inputTextTokenCount: 6 };
    for (const [model, one] of [
      [TITAN, titan],
      [LLAMA, { generation: 'Sorry, blocked.', prompt_token_count: 6, generation_token_count: 3 }],
    ] as const) {
      const { reply, failure } = stream(model, chunk({ ...one, ...acted }));
      expect(failure, model).to.equal(undefined);
      expect(reply.choices[0], model).to.deep.equal({
        index: 0,
        message: { role: 'assistant', content: 'Sorry, blocked.' },
        finish_reason: 'guardrail_intervened',
      });
      expect(reply.usage, model).to.deep.equal({ prompt_tokens: 6, completion_tokens: 3, total_tokens: 9 });
    }
    const masked = stream(
      TITAN,
      chunk({ outputText: 'a', completionReason: null, ...acted }),
      chunk({ outputText: 'b', completionReason: 'FINISH', ...acted }),
    );
    expect(masked.chunks.map(({ choices: [choice] }) => choice?.finish_reason)).to.deep.equal([null, null, 'stop']);
    expect(stream(TITAN, chunk({ ...titan, 'amazon-bedrock-guardrailAction': 'NONE' })).failure).to.include({
      code: 'upstream_error',
    });
    for (const [model, body] of [
      [TITAN, { results: [{ outputText: 'Sorry.' }] }],
      [LLAMA, { generation: 'Sorry.' }],
    ] as const) {
      const { choices } = translateReply(bedrock, callFor(model), {
        ...body,
        'amazon-bedrock-guardrailAction': 'INTERVENED',
      });
      expect(choices[0]?.finish_reason, model).to.equal('guardrail_intervened');
    }
  });

  it("that fail have the service's message, and the status they would have had", () => {
    const failing = {
      throttlingException: ['rate_limit_exceeded', 429],
      validationException: ['invalid_request', 400],
      internalServerException: ['upstream_error', 500],
      serviceUnavailableException: ['upstream_error', 503],
      modelTimeoutException: ['upstream_timeout', 408],
      modelStreamErrorException: ['upstream_error', undefined],
      newException: ['upstream_error', undefined],
    } as const;
    for (const [type, [code, status]] of Object.entries(failing)) {
      const { failure, chunks } = stream(NOVA, text('so far'), exception(type, { message: 'it broke' }), text('never'));
      expect(failure, type).to.deep.include({ code });
      const { message, status: said } = (failure as any).fault;
      expect({ message, said }, type).to.deep.equal({ message: `${type}: it broke`, said: status });
      expect(
        chunks.map(({ choices: [choice] }) => choice.delta.content),
        type,
      ).to.deep.equal(['so far']);
    }
    expect((stream(CLAUDE, exception('throttlingException', 'x')).failure as any).fault.message).to.equal(
      'throttlingException',
    );
    expect(
      (stream(CLAUDE, chunk({ type: 'error', error: { type: 'overloaded_error', message: 'busy' } })).failure as any)
        .fault.message,
    ).to.equal('overloaded_error: busy');
    expect(
      (
        stream(LLAMA, exception('validationException', { message: 'Input is too long for requested model.' }))
          .failure as any
      ).fault.reason,
    ).to.equal('context_length');
  });

  it('skip what says nothing', () => {
    const odd = [
      event('initial-response', {}),
      event('messageStart', null),
      event('contentBlockStart', { start: 7 }),
      event('contentBlockStart', { contentBlockIndex: 9, start: { toolUse: 7 } }),
      event('contentBlockDelta', {}),
      event('contentBlockDelta', { delta: { text: 7 } }),
      event('contentBlockDelta', { contentBlockIndex: 5, delta: { toolUse: { input: 'lost' } } }),
      event('contentBlockDelta', { delta: { toolUse: {} } }),
      event('contentBlockDelta', { delta: { reasoningContent: { text: 7 } } }),
      event('messageStop', {}),
      event('metadata', { usage: 7 }),
      event('surprise', { a: 1 }),
      chunk('x'),
      chunk(null),
      chunk([]),
    ];
    for (const model of [NOVA, LLAMA, TITAN, MISTRAL, CLAUDE])
      expect(stream(model, ...odd), model)
        .to.deep.include({ chunks: [] })
        .and.to.have.property('failure')
        .that.is.an('error');
    expect(stream(NOVA, ...odd, text('kept'), stop('max_tokens')).reply.choices[0]).to.deep.equal({
      index: 0,
      message: { role: 'assistant', content: 'kept' },
      finish_reason: 'length',
    });
  });
});
