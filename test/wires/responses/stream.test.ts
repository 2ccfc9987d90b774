import { expect } from 'chai';
import { openEnvelope, sealEnvelope } from '../../../builtins/wires/envelope.ts';
import { StreamedCalls } from '../../../builtins/wires/responses/calls.ts';
import { shortName } from '../../../builtins/wires/tool-names.ts';
import { everyCut, sseBytes } from '../../kit/index.ts';
import { delta, eventsOf, ID, type Json, openStream, shown, streamed, streamedBytes, usage, whole } from './support.ts';

const SUMMARY = { reasoning: { summary: 'auto' } };
const SEALED = { include: ['reasoning.encrypted_content'] };
const TOOLS = {
  tools: [
    { type: 'function', name: 'f', parameters: {} },
    { type: 'function', name: 'g', parameters: {} },
    { type: 'custom', name: 'apply_patch' },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'f' }] },
    { type: 'tool_search', execution: 'client' },
  ],
};
const call = (index: number, members: { id?: string; name?: string; args?: string }): object =>
  delta({
    tool_calls: [
      {
        index,
        ...(members.id !== undefined && { id: members.id }),
        type: 'function',
        function: {
          ...(members.name !== undefined && { name: members.name }),
          ...(members.args !== undefined && { arguments: members.args }),
        },
      },
    ],
  });
const types = (response: Json): unknown[] => response['output'].map(({ type }: Json) => type);

describe('a streamed answer of the Responses API', () => {
  it('has every event of a text, in order', () => {
    const answer = streamed([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'Grü' }),
      delta({ content: 'ße 😀' }),
      delta({}, 'stop'),
      usage({}),
    ]);
    expect(shown(answer)).to.deep.equal([
      'created',
      'in_progress',
      'output_item.added 0',
      'content_part.added 0',
      'output_text.delta 0 "Grü"',
      'output_text.delta 0 "ße 😀"',
      'output_text.done 0',
      'content_part.done 0',
      'output_item.done 0',
      'completed',
    ]);
    const item = {
      type: 'message',
      id: `msg_${ID}_0`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Grüße 😀', annotations: [], logprobs: [] }],
    };
    expect(answer.events[2]?.['item']).to.deep.equal({ ...item, status: 'in_progress', content: [] });
    expect(answer.events[3]).to.deep.include({
      item_id: `msg_${ID}_0`,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
    });
    expect(answer.events[4]).to.deep.include({ item_id: `msg_${ID}_0`, content_index: 0, logprobs: [] });
    expect(answer.events[6]).to.deep.include({ text: 'Grüße 😀', logprobs: [] });
    expect(answer.events[8]?.['item']).to.deep.equal(item);
    expect(answer.response['output']).to.deep.equal([item]);
  });

  it('begins and ends with the whole object of the answer', () => {
    const { events, response } = streamed([delta({ content: 'a' }, 'stop'), usage({})], {
      instructions: 'i',
      metadata: { k: 'v' },
      temperature: 0.5,
      user: 'u',
      tools: [{ type: 'function', name: 'f', parameters: {} }],
      text: { verbosity: 'low' },
      reasoning: { effort: 'low' },
    });
    expect(Object.keys(response)).to.deep.equal([
      'id',
      'object',
      'created_at',
      'completed_at',
      'status',
      'error',
      'incomplete_details',
      'instructions',
      'model',
      'output',
      'parallel_tool_calls',
      'temperature',
      'top_p',
      'tool_choice',
      'tools',
      'text',
      'reasoning',
      'max_output_tokens',
      'previous_response_id',
      'store',
      'truncation',
      'metadata',
      'usage',
      'background',
      'service_tier',
      'user',
    ]);
    expect(response).to.deep.include({
      id: `resp_${ID}`,
      object: 'response',
      created_at: 1_700_000_000,
      completed_at: 1_700_000_002,
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: 'i',
      model: 'm',
      parallel_tool_calls: true,
      temperature: 0.5,
      top_p: 1,
      tool_choice: 'auto',
      text: { format: { type: 'text' }, verbosity: 'low' },
      reasoning: { effort: 'low', summary: null },
      max_output_tokens: null,
      previous_response_id: null,
      store: false,
      truncation: 'disabled',
      metadata: { k: 'v' },
      background: false,
      user: 'u',
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 15,
      },
    });
    expect(events[0]?.['response']).to.deep.equal({
      ...response,
      status: 'in_progress',
      completed_at: null,
      output: [],
      usage: null,
    });
    expect(events[1]?.['response']).to.deep.equal(events[0]?.['response']);
  });

  it('counts cache writes as input', () => {
    const { response } = streamed([
      delta({ content: 'a' }, 'stop'),
      usage({ cache_read_tokens: 4, cache_write_tokens: 3, reasoning_tokens: 2 }),
    ]);
    expect(response['usage']).to.deep.equal({
      input_tokens: 13,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 18,
    });
  });

  for (const [finish, status, reason] of [
    ['stop', 'completed', undefined],
    ['tool_calls', 'completed', undefined],
    ['length', 'incomplete', 'max_output_tokens'],
    ['content_filter', 'incomplete', 'content_filter'],
    ['pause_turn', 'completed', undefined],
    ['OTHER', 'completed', undefined],
  ] as const)
    it(`ends as ${status} after ${finish}`, () => {
      const { response, events } = streamed([delta({ content: 'a' }), delta({}, finish)]);
      expect(events.at(-1)?.['type']).to.equal(`response.${status}`);
      expect(response).to.deep.include({ status, incomplete_details: reason === undefined ? null : { reason } });
      expect(response['output'][0].status).to.equal(status);
      expect(whole({ content: 'a' }, finish)).to.deep.include({
        status,
        incomplete_details: response['incomplete_details'],
      });
    });

  it('has every event of a call', () => {
    const answer = streamed(
      [
        call(0, { id: 'c1', name: 'f', args: '' }),
        call(0, { args: '{"a"' }),
        call(0, { args: ':1}' }),
        delta({}, 'tool_calls'),
      ],
      TOOLS,
    );
    expect(shown(answer)).to.deep.equal([
      'created',
      'in_progress',
      'output_item.added 0',
      'function_call_arguments.delta 0 "{\\"a\\""',
      'function_call_arguments.delta 0 ":1}"',
      'function_call_arguments.done 0',
      'output_item.done 0',
      'completed',
    ]);
    expect(answer.events[2]?.['item']).to.deep.equal({
      type: 'function_call',
      id: `fc_${ID}_0`,
      call_id: 'c1',
      name: 'f',
      arguments: '',
      status: 'in_progress',
    });
    expect(answer.events[5]).to.deep.include({ name: 'f', arguments: '{"a":1}', item_id: `fc_${ID}_0` });
    expect(answer.response['output']).to.deep.equal([
      { type: 'function_call', id: `fc_${ID}_0`, call_id: 'c1', name: 'f', arguments: '{"a":1}', status: 'completed' },
    ]);
  });

  it('keeps the probabilities of tokens that come before their text or behind it', () => {
    const of = (content: string | undefined, token: string): object => ({
      choices: [
        {
          index: 0,
          delta: { ...(content !== undefined && { content }) },
          logprobs: { content: [{ token, logprob: -1, bytes: [97], top_logprobs: [] }] },
        },
      ],
    });
    const { events, response } = streamed(
      [
        of('', 'a'),
        delta({ reasoning_content: 'hm' }),
        of('b', 'b'),
        of(undefined, 'c'),
        of('', 'd'),
        delta({}, 'stop'),
      ],
      { include: ['message.output_text.logprobs'] },
    );
    const tokens = (list: Json[]): unknown[] => list.map(({ token }) => token as unknown);
    expect(
      events
        .filter(({ type }) => type === 'response.output_text.delta')
        .map(({ delta: text, logprobs }) => [text, tokens(logprobs as Json[])]),
    ).to.deep.equal([
      ['b', ['a', 'b']],
      ['', ['c']],
      ['', ['d']],
    ]);
    expect(tokens(response['output'][1].content[0].logprobs)).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(
      streamed([of('', 'a'), delta({}, 'stop')], { include: ['message.output_text.logprobs'] }).response['output'],
    ).to.deep.equal([]);
  });

  it('takes the empty arguments of a call that come after what followed it, and no others', () => {
    const late = (args: string): object[] => [
      call(0, { id: 'c1', name: 'f', args: '' }),
      delta({ content: 'b' }),
      call(0, { args }),
      delta({}, 'tool_calls'),
    ];
    for (const args of ['{}', ' { }\n', ' ']) {
      const { response } = streamed(late(args), TOOLS);
      expect([response['status'], types(response), response['output'][0].arguments], args).to.deep.equal([
        'completed',
        ['function_call', 'message'],
        '{}',
      ]);
    }
    expect(streamed(late('{"x":1}'), TOOLS).failure).to.not.equal(undefined);
    expect(
      streamed([call(0, { id: 'c1', name: 'f', args: '{"x":1}' }), ...late('{}').slice(1)], TOOLS).failure,
    ).to.not.equal(undefined);
  });

  it('loses nothing of a chunk that opens an item and fills it', () => {
    const { response } = streamed(
      [
        delta({ content: 'say', tool_calls: [{ index: 0, id: 'c1', function: { name: 'f', arguments: '{"a":1}' } }] }),
        delta({}, 'stop'),
      ],
      TOOLS,
    );
    expect(response['output'].map((item: Json) => item['arguments'] ?? item['content'][0].text)).to.deep.equal([
      'say',
      '{"a":1}',
    ]);
  });

  it('writes calls one at a time, also where their pieces come mixed', () => {
    const mixed = [
      call(0, { id: 'a', name: 'f', args: '{"x":' }),
      call(1, { id: 'b', name: 'g', args: '{"y"' }),
      call(0, { args: '"}' }),
      call(1, { args: ':2}' }),
      call(0, { args: '{"}' }),
      delta({}, 'tool_calls'),
    ];
    const { response, failure } = streamed(mixed, TOOLS);
    expect(failure).to.equal(undefined);
    expect(response['output'].map(({ call_id: id, arguments: args }: Json) => [id, args])).to.deep.equal([
      ['a', '{"x":"}{"}'],
      ['b', '{"y":2}'],
    ]);
  });

  for (const [what, chunks, expected] of [
    ['no id', [call(0, { name: 'f', args: '{}' })], [[`call_${ID}_0`, 'f', '{}']]],
    ['an empty id', [call(0, { id: '', name: 'f', args: '{}' })], [[`call_${ID}_0`, 'f', '{}']]],
    [
      'a name that comes late',
      [call(0, { id: 'a', args: '{"a"' }), call(0, { name: 'f', args: ':1}' })],
      [['a', 'f', '{"a":1}']],
    ],
    ['no arguments', [call(0, { id: 'a', name: 'f' })], [['a', 'f', '{}']]],
    [
      'a neighbour without arguments',
      [call(0, { id: 'a', name: 'f' }), call(1, { id: 'b', name: 'g' })],
      [
        ['a', 'f', '{}'],
        ['b', 'g', '{}'],
      ],
    ],
  ] as const)
    it(`has a call with ${what}`, () => {
      const { response } = streamed([...chunks, delta({}, 'tool_calls')], TOOLS);
      expect(response['output'].map(({ call_id: id, name, arguments: args }: Json) => [id, name, args])).to.deep.equal(
        expected,
      );
    });

  it('has an id of its own for a call of a whole answer whose id another one has', () => {
    const calls = ['f', 'g'].map((name) => ({ id: 'a', type: 'function', function: { name, arguments: '{}' } }));
    expect(
      whole({ tool_calls: calls }, 'tool_calls', TOOLS)['output'].map(({ call_id: id }: Json) => id),
    ).to.deep.equal(['a', `call_${ID}_1`]);
  });

  it('fails where a call goes on that had ended', () => {
    const { failure, events } = streamed(
      [
        call(0, { id: 'a', name: 'f', args: '{"a":1}' }),
        call(1, { id: 'b', name: 'g', args: '{}' }),
        call(0, { args: '}' }),
      ],
      TOOLS,
    );
    expect(failure?.message).to.equal('the provider failed while answering');
    expect(events.at(-1)).to.deep.include({ type: 'response.failed' });
  });

  it('has calls of custom tools with their raw input', () => {
    const answer = streamed(
      [
        call(0, { id: 'c1', name: 'apply_patch', args: '{"input":"*** Begin' }),
        call(0, { args: ' Patch\\n"}' }),
        delta({}, 'tool_calls'),
      ],
      TOOLS,
    );
    expect(shown(answer).slice(2, -1)).to.deep.equal([
      'output_item.added 0',
      'custom_tool_call_input.delta 0 "*** Begin Patch\\n"',
      'custom_tool_call_input.done 0',
      'output_item.done 0',
    ]);
    expect(answer.response['output']).to.deep.equal([
      {
        type: 'custom_tool_call',
        id: `ctc_${ID}_0`,
        call_id: 'c1',
        name: 'apply_patch',
        input: '*** Begin Patch\n',
        status: 'completed',
      },
    ]);
  });

  for (const [args, input] of [
    ['{"patch":"p"}', 'p'],
    ['{"patch":"p","n":1}', 'p'],
    ['{"a":"x","b":"y"}', '{"a":"x","b":"y"}'],
    ['*** raw', '*** raw'],
    ['"text"', '"text"'],
    ['{"input":7}', '{"input":7}'],
  ] as const) {
    it(`reads the input of a custom tool out of ${args}`, () => {
      expect(
        whole(
          { tool_calls: [{ id: 'c', type: 'function', function: { name: 'apply_patch', arguments: args } }] },
          'tool_calls',
          TOOLS,
        )['output'][0].input,
      ).to.equal(input);
    });
  }

  it('has calls of namespaces and searches as the client knows them', () => {
    const { response } = streamed(
      [
        call(0, { id: 'a', name: 'n__f', args: '{}' }),
        call(1, { id: 'b', name: 'tool_search', args: '{"query":"x"}' }),
        delta({}, 'tool_calls'),
      ],
      TOOLS,
    );
    expect(response['output']).to.deep.equal([
      {
        type: 'function_call',
        id: `fc_${ID}_0`,
        call_id: 'a',
        name: 'f',
        namespace: 'n',
        arguments: '{}',
        status: 'completed',
      },
      {
        type: 'tool_search_call',
        id: `tsc_${ID}_1`,
        call_id: 'b',
        execution: 'client',
        arguments: { query: 'x' },
        status: 'completed',
      },
    ]);
  });

  it('has a tool by its own name, where it was sent by a shorter one', () => {
    const name = `long_${'x'.repeat(95)}`;
    const asked = { tools: [{ type: 'function', name, parameters: {} }] };
    const { response } = streamed(
      [call(0, { id: 'a', name: shortName(name), args: '{}' }), delta({}, 'tool_calls')],
      asked,
    );
    expect(response['output'][0].name).to.equal(name);
  });

  it('seals reasoning unasked, and shows it where a summary is asked for', () => {
    const chunks = [
      delta({
        reasoning_content: 'thi',
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'thi' }],
      }),
      delta({
        reasoning_content: 'nk',
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'nk' }],
      }),
      delta({
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', signature: 's' }],
      }),
      delta({ content: 'ok' }),
      delta({}, 'stop'),
    ];
    const both = streamed(chunks, { ...SUMMARY, ...SEALED });
    expect(shown(both).slice(2, 9)).to.deep.equal([
      'output_item.added 0',
      'reasoning_summary_part.added 0',
      'reasoning_summary_text.delta 0 "thi"',
      'reasoning_summary_text.delta 0 "nk"',
      'reasoning_summary_text.done 0',
      'reasoning_summary_part.done 0',
      'output_item.done 0',
    ]);
    expect(both.events[3]).to.deep.include({
      summary_index: 0,
      item_id: `rs_${ID}_0`,
      part: { type: 'summary_text', text: '' },
    });
    const [item] = both.response['output'];
    expect(item).to.deep.include({
      type: 'reasoning',
      id: `rs_${ID}_0`,
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'think' }],
    });
    expect(openEnvelope(item.encrypted_content)).to.deep.equal([
      { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', signature: 's' },
    ]);
    expect(streamed(chunks, SUMMARY).response['output']).to.deep.equal(both.response['output']);
    const unasked = streamed(chunks);
    expect(shown(unasked).slice(2, 4)).to.deep.equal(['output_item.added 0', 'output_item.done 0']);
    const [{ summary, encrypted_content: envelope }] = unasked.response['output'];
    expect(summary).to.deep.equal([]);
    expect(openEnvelope(envelope)).to.deep.equal([
      { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'think', signature: 's' },
    ]);
    expect(streamed(chunks, SEALED).response['output']).to.deep.equal(unasked.response['output']);
  });

  it('marks reasoning without a signature as its own, and keeps its text where that is not shown', () => {
    const chunks = [delta({ reasoning_content: 'think' }), delta({ content: 'ok' }), delta({}, 'stop')];
    expect(streamed(chunks, { ...SUMMARY, ...SEALED }).response['output'][0].encrypted_content).to.equal(
      sealEnvelope([]),
    );
    expect(streamed(chunks, SEALED).response['output'][0].encrypted_content).to.equal(
      sealEnvelope([{ type: 'reasoning.text', text: 'think' }]),
    );
  });

  it('gives each stretch of reasoning an item of its own', () => {
    const { response } = streamed(
      [
        delta({ reasoning_content: 'a' }),
        delta({ content: 'b' }),
        delta({ reasoning_content: 'c' }),
        call(0, { id: 'x', name: 'f', args: '{}' }),
        delta({ content: 'd' }),
        delta({}, 'stop'),
      ],
      { ...SUMMARY, ...TOOLS },
    );
    expect(types(response)).to.deep.equal(['reasoning', 'message', 'reasoning', 'function_call', 'message']);
    expect(response['output'].map(({ id }: Json) => id.slice(-1))).to.deep.equal(['0', '1', '2', '3', '4']);
  });

  it('has the signature of a call before it', () => {
    const signature = { type: 'reasoning.encrypted', index: 0, format: 'google-gemini-v1', id: 'x', data: 'sig' };
    const { response } = streamed(
      [
        delta({ content: 'a' }),
        delta({
          reasoning_details: [signature],
          tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }],
        }),
        delta({}, 'tool_calls'),
      ],
      { ...SEALED, ...TOOLS },
    );
    expect(types(response)).to.deep.equal(['message', 'reasoning', 'function_call']);
    expect(openEnvelope(response['output'][1].encrypted_content)).to.deep.equal([signature]);
  });

  it('tells a refusal from a text', () => {
    const answer = streamed([delta({ refusal: 'I can' }), delta({ refusal: 'not' }), delta({}, 'stop')]);
    expect(shown(answer).slice(2, -1)).to.deep.equal([
      'output_item.added 0',
      'content_part.added 0',
      'refusal.delta 0 "I can"',
      'refusal.delta 0 "not"',
      'refusal.done 0',
      'content_part.done 0',
      'output_item.done 0',
    ]);
    expect(answer.response['output'][0].content).to.deep.equal([{ type: 'refusal', refusal: 'I cannot' }]);
  });

  it('has citations and log probabilities of a text', () => {
    const cited = {
      type: 'url_citation',
      url_citation: { start_index: 0, end_index: 1, title: 't', url: 'https://h' },
    };
    const logprobs = { content: [{ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] }] };
    const answer = streamed(
      [
        { choices: [{ index: 0, delta: { content: 'a' }, logprobs }] },
        delta({ annotations: [cited] }),
        delta({}, 'stop'),
      ],
      { include: ['message.output_text.logprobs'] },
    );
    expect(answer.events[5]).to.deep.include({
      type: 'response.output_text.annotation.added',
      annotation_index: 0,
      annotation: { type: 'url_citation', start_index: 0, end_index: 1, title: 't', url: 'https://h' },
    });
    expect(answer.response['output'][0].content[0]).to.deep.include({
      annotations: [answer.events[5]?.['annotation']],
      logprobs: logprobs.content,
    });
    expect(
      streamed([{ choices: [{ index: 0, delta: { content: 'a' }, logprobs }] }, delta({}, 'stop')]).response[
        'output'
      ][0].content[0].logprobs,
    ).to.deep.equal([]);
  });

  it('ends as failed where the upstream breaks off, with what was there', () => {
    const { events, response } = streamedBytes([sseBytes([delta({ content: 'half' })])]);
    expect(events.at(-1)?.['type']).to.equal('response.failed');
    expect(response).to.deep.include({
      status: 'failed',
      error: { code: 'server_error', message: 'it broke' },
      completed_at: null,
    });
    expect(response['output']).to.deep.equal([
      {
        type: 'message',
        id: `msg_${ID}_0`,
        role: 'assistant',
        status: 'incomplete',
        content: [{ type: 'output_text', text: 'half', annotations: [], logprobs: [] }],
      },
    ]);
  });

  for (const [code, reason, expected] of [
    ['response_rejected', undefined, 'invalid_prompt'],
    ['request_rejected', undefined, 'invalid_prompt'],
    ['insufficient_quota', undefined, 'insufficient_quota'],
    ['rate_limit_exceeded', undefined, 'rate_limit_exceeded'],
    ['provider_saturated', undefined, 'rate_limit_exceeded'],
    ['upstream_error', 'context_length', 'context_length_exceeded'],
    ['invalid_request', 'content_policy', 'invalid_prompt'],
    ['rate_limit_exceeded', 'billing', 'server_error'],
    ['upstream_auth_error', 'billing', 'server_error'],
    ['upstream_error', 'overload', 'server_error'],
    ['upstream_error', undefined, 'server_error'],
    ['stream_timeout', undefined, 'server_error'],
    ['plugin_error', undefined, 'server_error'],
  ] as const)
    it(`ends as failed with ${expected} after ${code}${reason ? ` for ${reason}` : ''}, also where nothing of it has left`, () => {
      for (const isFirst of [false, true]) {
        const stream = openStream();
        const begun = stream.chunk(delta({ content: 'half' }) as never);
        const ended = stream.error(
          { code, status: 502, message: 'm', requestId: ID, retryAfterS: undefined, ...(reason && { reason }) },
          isFirst,
        );
        const events = eventsOf(isFirst ? ended : begun + ended);
        const message = reason === 'context_length' ? "this request exceeds the model's context window: m" : 'm';
        expect(events.at(-1)?.['response'].error).to.deep.equal({ code: expected, message });
        expect(events.at(-1)?.['response'].output).to.have.length(isFirst ? 0 : 1);
        expect(events[0]?.['type']).to.equal('response.created');
      }
    });

  it("keeps the digits of a search's numbers", () => {
    const stream = openStream(TOOLS);
    stream.chunk(call(0, { id: 'b', name: 'tool_search', args: '{"n":12345678901234567890}' }) as never);
    expect(stream.end()).to.include('"arguments":{"n":12345678901234567890}');
  });

  it("is the same wherever the upstream's bytes are cut", () => {
    const bytes = sseBytes([
      delta({ role: 'assistant', reasoning_content: 'ü' }),
      delta({ content: 'é😀' }),
      call(0, { id: 'c1', name: 'apply_patch', args: '{"input":"水' }),
      call(0, { args: '"}' }),
      delta({}, 'tool_calls'),
      usage({}),
      { data: '[DONE]' },
    ]);
    const { events } = streamedBytes([bytes], { ...TOOLS, ...SUMMARY });
    for (const pieces of everyCut(bytes))
      expect(streamedBytes(pieces, { ...TOOLS, ...SUMMARY }).events).to.deep.equal(events);
  });
});

describe('the calls of an answer', () => {
  it('are opened in the order of their indices, and looked at a few times, however many wait', () => {
    const calls = new StreamedCalls();
    let looks = 0;
    const begin = (index: number): void => {
      const call = calls.of({ index, function: { name: `f${index}` } }, 0);
      let { state } = call;
      Object.defineProperty(call, 'state', {
        get: () => {
          looks += 1;
          return state;
        },
        set: (value: typeof state) => {
          state = value;
        },
      });
      calls.next();
    };
    for (const index of [3, 1, 2, ...Array.from({ length: 200 }, (_, at) => 4 + at)]) begin(index);
    const opened: string[] = [];
    for (let call = calls.next(); call; call = calls.next()) {
      opened.push(call.name);
      call.state = 'open';
    }
    expect(opened).to.deep.equal(Array.from({ length: 203 }, (_, at) => `f${at + 1}`));
    expect(looks).to.be.at.most(1000);
  });
});
