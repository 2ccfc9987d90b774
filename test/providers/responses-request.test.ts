import { expect } from 'chai';
import { GatewayError } from '../../host/contract/index.ts';
import azureFoundry from '../../providers/azure-foundry/index.ts';
import azureOpenai from '../../providers/azure-openai/index.ts';
import ollama from '../../providers/ollama/index.ts';
import openai from '../../providers/openai/index.ts';
import xai from '../../providers/xai/index.ts';
import { requestOf } from '../differential/generate/request.ts';
import { readCommon } from '../differential/meaning/common.ts';
import type { Meaning } from '../differential/meaning/meaning.ts';
import { readResponses } from '../differential/meaning/responses.ts';
import { ask, cases, connected, Dice } from '../kit/index.ts';
import { byResponses, callOf, inputFor, SEALING, sentFor } from './responses-support.ts';

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

describe('chats by the Responses API, the request', () => {
  it('carries the conversation as items without ids, in order', () => {
    const items = inputFor(
      [
        { role: 'system', content: 'S' },
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'D' },
            { type: 'text', text: 'E' },
          ],
        },
        { role: 'user', content: '' },
        {
          role: 'assistant',
          content: 'let me look',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            { id: 'c2', type: 'function', function: { name: 'list', arguments: '' } },
            { id: 'c3', type: 'custom', custom: { name: 'sql', input: 'SELECT 1' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'text of a' },
        { role: 'tool', tool_call_id: 'c2', content: null },
        { role: 'tool', tool_call_id: 'c3', content: [{ type: 'text', text: 'one row' }] },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'A' },
            { type: 'refusal', refusal: 'B' },
          ],
          refusal: 'C',
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: null },
        { role: 'user', content: 'go on' },
      ],
      { facts: { system_role: 'developer' } },
    );
    const text = (words: string): object => ({ type: 'input_text', text: words });
    expect(items).to.deep.equal([
      { role: 'developer', content: [text('S')] },
      { role: 'developer', content: [text('D'), text('E')] },
      { role: 'user', content: [text('')] },
      { role: 'assistant', content: 'let me look' },
      { type: 'function_call', call_id: 'c1', name: 'read_file', arguments: '{"path":"a"}' },
      { type: 'function_call', call_id: 'c2', name: 'list', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c3', name: 'sql', input: 'SELECT 1' },
      { type: 'function_call_output', call_id: 'c1', output: 'text of a' },
      { type: 'function_call_output', call_id: 'c2', output: '' },
      { type: 'custom_tool_call_output', call_id: 'c3', output: [text('one row')] },
      { role: 'assistant', content: 'A\n\nB\n\nC' },
      { role: 'user', content: [text('go on')] },
    ]);
  });

  it('says system, unless the rules of the model say developer', () => {
    for (const facts of [undefined, {}, { system_role: 'system' as const }])
      expect(inputFor([{ role: 'developer', content: 'D' }], { facts })[0]!['role']).to.equal('system');
  });

  it('carries images and files in turns of the user and in results of tools', () => {
    const parts = [
      {
        type: 'image_url',
        image_url: { url: 'https://example.com/a.png' },
        prompt_cache_breakpoint: { mode: 'explicit' },
      },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'low' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==' } },
      { type: 'file', file: { file_data: 'data:application/pdf;base64,AA==', filename: 'b.pdf' } },
      { type: 'file', file: { file_id: 'file-7', filename: 'c.pdf' } },
      { type: 'file', file: { file_data: 'https://example.com/d.pdf' } },
      { type: 'text', text: 'look', cache_control: { type: 'ephemeral' } },
    ];
    const made = [
      {
        type: 'input_image',
        image_url: 'https://example.com/a.png',
        detail: 'auto',
        prompt_cache_breakpoint: { mode: 'explicit' },
      },
      { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'file' },
      { type: 'input_file', file_data: 'data:application/pdf;base64,AA==', filename: 'b.pdf' },
      { type: 'input_file', file_id: 'file-7' },
      { type: 'input_file', file_url: 'https://example.com/d.pdf' },
      { type: 'input_text', text: 'look' },
    ];
    const call = { id: 'c1', type: 'function', function: { name: 'shot', arguments: '{}' } };
    const [user, , result] = inputFor([
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: parts },
    ]);
    expect(user!['content']).to.deep.equal(made);
    expect(result!['output']).to.deep.equal(made);
  });

  it('refuses what the API cannot be sent, by its place, and sends nothing', () => {
    const sound = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };
    const cases: readonly (readonly [object, string])[] = [
      [{ role: 'user', content: [{ type: 'text', text: 'a' }, sound] }, 'messages[0].content[1]'],
      [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://v' } }] }, 'messages[0].content[0]'],
      [
        { role: 'assistant', content: [{ type: 'image_url', image_url: { url: 'https://i' } }] },
        'messages[0].content[0]',
      ],
      [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://i' } }] }, 'messages[0].content[0]'],
      [{ role: 'tool', tool_call_id: 'c', content: [sound] }, 'messages[0].content[0]'],
      [{ role: 'function', name: 'f', content: 'x' }, 'messages[0].role'],
    ];
    for (const [message, path] of cases) {
      try {
        inputFor([message]);
        expect.fail(`nothing refused ${JSON.stringify(message)}`);
      } catch (error) {
        expect(error, JSON.stringify(message)).to.be.instanceOf(GatewayError);
        expect((error as GatewayError).code).to.equal('unsupported_parameter');
        expect((error as GatewayError).message.startsWith(`${path}: `), (error as GatewayError).message).to.equal(true);
      }
    }
  });

  it('leaves the names of speakers out, and says so', () => {
    const { body, ignored } = sentFor({
      messages: [
        { role: 'user', content: 'a', name: 'mate' },
        { role: 'assistant', content: 'b', name: '' },
      ],
    });
    expect(ignored).to.deep.equal(['messages[0].name']);
    expect(JSON.stringify(body)).not.to.include('mate');
  });

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

  it('is the second turn of an agent, as the reference has it', () => {
    const sealed = {
      type: 'reasoning.encrypted',
      format: 'openai-responses-v1',
      index: 0,
      origin: 'openai',
      data: 'gAAA',
      id: 'call_1',
    };
    const { body, bounded } = sentFor(
      {
        max_tokens: 32_000,
        reasoning_effort: 'max',
        tools: [{ type: 'function', function: { name: 'read_file', description: '', parameters: SCHEMA } }],
        messages: [
          { role: 'system', content: 'S' },
          { role: 'user', content: 'read a' },
          {
            role: 'assistant',
            content: null,
            reasoning_details: [sealed],
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path":"a"}' } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'text of a' },
        ],
      },
      { stream: true, wantsThoughts: true, facts: SEALING },
    );
    expect(body).to.deep.equal({
      model: 'gpt-x',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'xhigh', summary: 'auto' },
      max_output_tokens: 32_000,
      tools: [{ type: 'function', name: 'read_file', description: '', parameters: SCHEMA, strict: false }],
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'S' }] },
        { role: 'user', content: [{ type: 'input_text', text: 'read a' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
        { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a"}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'text of a' },
      ],
    });
    expect(bounded).to.deep.equal(['reasoning_effort']);
  });

  it('goes where each provider has the API', async () => {
    const places = [
      [openai, 'https://api.openai.com/v1/responses', 'm', true],
      [xai, 'https://api.x.ai/v1/responses', 'm', true],
      [ollama, 'http://h/v1/responses', 'm', undefined],
      [azureFoundry, 'http://h/openai/v1/responses', 'm', true],
      [azureOpenai, 'http://h/openai/v1/responses', 'key', true],
    ] as const;
    for (const [module, url, model, isAutomatic] of places) {
      const {
        provider: { root, credentials },
      } = await connected(module);
      const call = callOf({ model: 'm', root, credentials });
      const wire = byResponses(module).translators.chat!.toUpstream(ask() as never, call);
      expect([root + wire.path, (wire.body as Fields)['model'], wire.headers], module.name).to.deep.equal([
        url,
        model,
        undefined,
      ]);
      expect(module.translators.chat?.viaResponses?.isAutomatic, module.name).to.equal(isAutomatic);
    }
  });

  it('says what the chat said: turns, texts, calls, outputs, media, tools and parameters, for any conversation', () => {
    for (let seed = 1; seed <= cases(3000); seed += 1) {
      const request = requestOf(new Dice(seed));
      if (JSON.stringify(request).includes('"input_audio"')) continue; // refused, as a test above shows
      const { body } = sentFor(request);
      const [asked, read] = [comparable(readCommon(request)), comparable(readResponses(body))];
      const shown = `seed ${seed}: ${JSON.stringify(request)}`;
      expect(read, shown).to.deep.equal(asked);
      expect(JSON.stringify(body['input']), shown).not.to.match(/"id":/);
      for (const tool of body['tools'] ?? [])
        if (tool.type === 'function') expect(tool.strict, shown).to.be.a('boolean');
    }
  });
});

const SAID = new Set(['text', 'media', 'call', 'result']);
const SETTINGS = [
  'temperature',
  'top_p',
  'top_k',
  'reasoning_effort',
  'verbosity',
  'response_format',
  'parallel_tool_calls',
  'user',
  'metadata',
  'service_tier',
  'thinking',
];

/** What both wires have words for. */
function comparable({ turns, tools, settings }: Meaning): Fields {
  const own = tools.filter(({ name }) => name !== 'web_search');
  return {
    turns: turns
      .filter(({ kind }) => SAID.has(kind))
      .map((turn) => ({
        ...turn,
        ...(turn.kind === 'media' && { detail: turn['detail'] === 'auto' ? undefined : turn['detail'] }),
      })),
    tools: own.map(({ name, description, schema, strict }) => ({
      name,
      description,
      schema: schema ?? { type: 'object', properties: {} },
      strict: strict ?? false,
    })),
    settings: {
      ...Object.fromEntries(SETTINGS.map((name) => [name, settings[name]])),
      max_tokens: settings['max_tokens'] === undefined ? undefined : Math.max(16, Number(settings['max_tokens'])),
      tool_choice: own.length > 0 ? settings['tool_choice'] : undefined,
    },
  };
}
