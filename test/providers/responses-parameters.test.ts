import { expect } from 'chai';
import { SEALING, sentFor } from './responses-support.ts';

type Fields = Record<string, any>;

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } } };
const TOOL = { type: 'function', function: { name: 'read_file', description: 'd', parameters: SCHEMA } };
const FLAT = { type: 'function', name: 'read_file', description: 'd', parameters: SCHEMA, strict: false };

/** What is sent beside the conversation. */
function paramsFor(request: object, more: Parameters<typeof sentFor>[1] = {}): Fields {
  const { input: _input, model: _model, ...params }: Fields = sentFor(request, more).body;
  return params;
}

/** What an unknown model, of which no rule says anything, gets of a request. */
const sent = (request: object): Fields => ({ store: false, ...request });

describe('chats by the Responses API, the parameters of the request', () => {
  it('keeps nothing at the vendor, whatever the client asks', () => {
    for (const store of [undefined, null, true, false]) {
      const { body, ignored } = sentFor({ store });
      expect(body['store']).to.equal(false);
      expect(ignored).to.deep.equal(store === true ? ['store'] : []);
    }
  });

  const ROWS: readonly (readonly [string, object, object])[] = [
    ['max_tokens', { max_tokens: 20 }, { max_output_tokens: 20 }],
    ['both ceilings', { max_tokens: 20, max_completion_tokens: 30 }, { max_output_tokens: 30 }],
    ['a ceiling of 0', { max_tokens: 0 }, { max_output_tokens: 0 }],
    ['a ceiling of 16', { max_tokens: 16 }, { max_output_tokens: 16 }],
    ['an effort', { reasoning_effort: 'xhigh' }, { reasoning: { effort: 'xhigh' } }],
    ['an effort within reasoning', { reasoning: { effort: 'low' } }, { reasoning: { effort: 'low' } }],
    ['a summary', { reasoning: { summary: 'detailed' } }, { reasoning: { summary: 'detailed' } }],
    ['a wish to see thoughts', { include_reasoning: true }, {}],
    ['text', { response_format: { type: 'text' } }, {}],
    ['JSON', { response_format: { type: 'json_object' } }, { text: { format: { type: 'json_object' } } }],
    [
      'a schema',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: SCHEMA, strict: true, description: 'd' },
        },
      },
      { text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true, description: 'd' } } },
    ],
    ['verbosity', { verbosity: 'low' }, { text: { verbosity: 'low' } }],
    [
      'verbosity beside a format',
      { verbosity: 'low', response_format: { type: 'json_object' } },
      { text: { verbosity: 'low', format: { type: 'json_object' } } },
    ],
    ['a function', { tools: [TOOL] }, { tools: [FLAT] }],
    [
      'a strict function with a mark of a cache',
      { tools: [{ ...TOOL, cache_control: {}, function: { ...TOOL.function, strict: true, cache_control: {} } }] },
      { tools: [{ ...FLAT, strict: true }] },
    ],
    [
      'functions without a schema',
      { tools: [undefined, null, {}].map((parameters) => ({ type: 'function', function: { name: 'f', parameters } })) },
      {
        tools: [1, 2, 3].map(() => ({
          type: 'function',
          name: 'f',
          parameters: { type: 'object', properties: {} },
          strict: false,
        })),
      },
    ],
    [
      'a custom tool with a grammar',
      {
        tools: [
          {
            type: 'custom',
            custom: {
              name: 'sql',
              description: 'd',
              format: { type: 'grammar', grammar: { definition: 'start: "a"', syntax: 'lark' } },
            },
          },
          { type: 'custom', custom: { name: 'free', format: { type: 'text' } } },
        ],
      },
      {
        tools: [
          {
            type: 'custom',
            name: 'sql',
            description: 'd',
            format: { type: 'grammar', definition: 'start: "a"', syntax: 'lark' },
          },
          { type: 'custom', name: 'free', format: { type: 'text' } },
        ],
      },
    ],
    [
      'a tool of the vendor',
      { tools: [{ type: 'mcp', server_label: 's' }] },
      { tools: [{ type: 'mcp', server_label: 's' }] },
    ],
    ['a choice by a word', { tools: [TOOL], tool_choice: 'required' }, { tools: [FLAT], tool_choice: 'required' }],
    [
      'a choice of a function',
      { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'read_file' } } },
      { tools: [FLAT], tool_choice: { type: 'function', name: 'read_file' } },
    ],
    [
      'a choice of a custom tool',
      { tools: [TOOL], tool_choice: { type: 'custom', custom: { name: 'sql' } } },
      { tools: [FLAT], tool_choice: { type: 'custom', name: 'sql' } },
    ],
    [
      'allowed tools',
      {
        tools: [TOOL],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'read_file' } }] },
        },
      },
      {
        tools: [FLAT],
        tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'read_file' }] },
      },
    ],
    ['a choice without tools', { tool_choice: 'auto', tools: [] }, {}],
    ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
    ['likelihoods', { logprobs: true }, { include: ['message.output_text.logprobs'], top_logprobs: 0 }],
    [
      'likelihoods of other tokens, beside what else is to be included',
      { logprobs: true, top_logprobs: 3, include: ['web_search_call.action.sources', 'message.output_text.logprobs'] },
      { include: ['web_search_call.action.sources', 'message.output_text.logprobs'], top_logprobs: 3 },
    ],
    ['no likelihoods', { logprobs: false, top_logprobs: null }, {}],
    [
      'a search of the web',
      {
        web_search_options: {
          search_context_size: 'low',
          user_location: { type: 'approximate', approximate: { city: 'Brest' } },
        },
      },
      {
        tools: [
          { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Brest' } },
        ],
      },
    ],
    ['a search without options', { web_search_options: {} }, { tools: [{ type: 'web_search' }] }],
    [
      'what both have',
      {
        parallel_tool_calls: false,
        service_tier: 'flex',
        metadata: { berth: '7' },
        user: 'u',
        safety_identifier: 's',
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        moderation: { mode: 'x' },
      },
      {
        parallel_tool_calls: false,
        service_tier: 'flex',
        metadata: { berth: '7' },
        user: 'u',
        safety_identifier: 's',
        prompt_cache_key: 'k',
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit' },
        moderation: { mode: 'x' },
      },
    ],
    [
      'fields of this API alone',
      { truncation: 'auto', max_tool_calls: 3, context_management: [{ type: 'compaction' }] },
      { truncation: 'auto', max_tool_calls: 3, context_management: [{ type: 'compaction' }] },
    ],
    [
      'what says nothing',
      {
        n: 1,
        frequency_penalty: 0,
        presence_penalty: 0,
        logit_bias: {},
        stop: [],
        seed: null,
        modalities: ['text'],
        prediction: null,
        previous_response_id: null,
        background: false,
        stream_options: { include_usage: true },
      },
      {},
    ],
  ];
  for (const [what, request, expected] of ROWS)
    it(`sends ${what}`, () => {
      const wire = sentFor(request);
      const { input: _input, model, ...params }: Fields = wire.body;
      expect(params).to.deep.equal(sent(expected));
      expect(model).to.equal('gpt-x');
      expect([...(wire.ignored ?? []), ...(wire.bounded ?? [])]).to.deep.equal([]);
    });

  it('raises a ceiling below 16 to what the API takes, and bounds one above what the model writes', () => {
    for (const ceiling of [1, 15]) {
      const { body, bounded } = sentFor({ max_completion_tokens: ceiling });
      expect([body['max_output_tokens'], bounded]).to.deep.equal([16, ['max_completion_tokens']]);
    }
    const { body, bounded } = sentFor({ max_tokens: 900 }, { facts: { max_output: 500 } });
    expect([body['max_output_tokens'], bounded]).to.deep.equal([500, ['max_tokens']]);
    expect(sentFor({ max_tokens: 900 }, { facts: { max_output: 500 }, maxOutputTokens: 800 }).bounded).to.deep.equal(
      [],
    );
  });

  it('names each field that the API does not have, and sends none of them', () => {
    const fields = {
      n: 2,
      stop: ['END'],
      seed: 7,
      frequency_penalty: 0.5,
      presence_penalty: -1,
      logit_bias: { 50256: -100 },
      prediction: { type: 'content', content: 'x' },
      audio: { voice: 'v' },
      modalities: ['text', 'audio'],
      functions: [{ name: 'f' }],
      function_call: 'auto',
      input: 'other words',
      instructions: 'other words',
      previous_response_id: 'resp_1',
      conversation: 'conv_1',
      background: true,
      prompt: { id: 'p' },
    };
    const { body, ignored } = sentFor(fields);
    expect(ignored).to.have.members(Object.keys(fields));
    expect(Object.keys(body)).to.have.members(['model', 'store', 'input']);
    expect(body['input']).to.deep.equal([{ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }]);
  });

  it('takes the nearest effort that the model knows', () => {
    const facts = { efforts: ['low', 'medium', 'high'] as const };
    for (const [asked, effort, ignored, bounded] of [
      ['max', 'high', [], ['reasoning_effort']],
      ['minimal', 'low', [], ['reasoning_effort']],
      ['none', 'low', ['reasoning_effort'], []],
      ['odd', undefined, ['reasoning_effort'], []],
      ['medium', 'medium', [], []],
    ] as const) {
      const wire = sentFor({ reasoning_effort: asked }, { facts });
      expect(wire.body['reasoning'], asked).to.deep.equal(effort && { effort });
      expect([wire.ignored, wire.bounded], asked).to.deep.equal([ignored, bounded]);
    }
    expect(sentFor({ reasoning_effort: 'low' }, { facts: { efforts: [] } }).ignored).to.deep.equal([
      'reasoning_effort',
    ]);
    expect(sentFor({ reasoning: { effort: 'none' } }, { facts }).ignored).to.deep.equal(['reasoning.effort']);
  });

  it('asks for a summary where the client wants to see thoughts, the model shows them, and nothing else is asked', () => {
    const summaries = (request: object, more: object): unknown =>
      (sentFor(request, more).body['reasoning'] as Fields | undefined)?.['summary'];
    expect(summaries({}, { wantsThoughts: true, facts: SEALING })).to.equal('auto');
    expect(summaries({ reasoning: { summary: 'concise' } }, { wantsThoughts: true, facts: SEALING })).to.equal(
      'concise',
    );
    expect(summaries({}, { facts: SEALING })).to.equal(undefined);
    expect(summaries({}, { wantsThoughts: true, facts: {} })).to.equal(undefined);
  });

  it('asks for sealed thoughts of models that think and seal them, and of no others', () => {
    const included = (facts?: object): unknown => sentFor({}, { facts }).body['include'];
    expect(included(SEALING)).to.deep.equal(['reasoning.encrypted_content']);
    expect(included({ thoughts_back: 'sealed' })).to.deep.equal(['reasoning.encrypted_content']);
    for (const facts of [undefined, {}, { efforts: ['low'] }, { thoughts_back: 'sealed', efforts: [] }])
      expect(included(facts), JSON.stringify(facts)).to.equal(undefined);
    const both = sentFor(
      { include: ['reasoning.encrypted_content', 'x'], logprobs: true, reasoning_effort: 'none' },
      { facts: SEALING },
    );
    expect(both.body['include']).to.deep.equal(['reasoning.encrypted_content', 'x', 'message.output_text.logprobs']);
  });

  it('leaves sampling out where the model refuses it, and says so', () => {
    const asked = { temperature: 0.5, top_p: 0.9, top_k: 4, logprobs: true, top_logprobs: 2 };
    for (const [facts, effort, isSent] of [
      [{ sampling: 'always' }, undefined, true],
      [{ sampling: 'never' }, 'none', false],
      [{ sampling: 'effort_none' }, undefined, false],
      [{ sampling: 'effort_none' }, 'low', false],
      [{ sampling: 'effort_none' }, 'none', true],
      [{}, 'low', true],
    ] as const) {
      const { body, ignored } = sentFor({ ...asked, ...(effort && { reasoning_effort: effort }) }, { facts });
      expect(ignored, JSON.stringify([facts, effort])).to.have.members(isSent ? [] : Object.keys(asked));
      expect('temperature' in body).to.equal(isSent);
      expect('include' in body).to.equal(isSent);
    }
  });

  it('leaves out what the rules of the model refuse, and says so', () => {
    const { body, ignored } = sentFor(
      { prompt_cache_retention: '24h', user: 'u', stop: ['x'] },
      { facts: { refuses: ['prompt_cache_retention', 'stop', 'metadata'] } },
    );
    expect(ignored).to.have.members(['prompt_cache_retention', 'stop']);
    expect(body).to.not.have.any.keys('prompt_cache_retention', 'stop');
    expect(body['user']).to.equal('u');
  });

  it('streams when the client does, without the options of chats', () => {
    const asked = { stream: true, stream_options: { include_usage: true, include_obfuscation: false } };
    expect(paramsFor(asked, { stream: true })).to.deep.equal({
      stream: true,
      store: false,
      stream_options: { include_obfuscation: false },
    });
    expect(paramsFor(asked)).to.deep.equal({ store: false });
  });
});
