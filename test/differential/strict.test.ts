import { expect } from 'chai';
import { ownFaults, refusalsOf } from '../kit/strict/index.ts';
import { askStrictly } from './strict.ts';

/** A slice of what `npm run test:soak` asks. */
const CONVERSATIONS = 16;

describe('vendors that refuse what the real ones refuse', function suite() {
  this.timeout(60_000);

  it(`take every request that is not wrong by itself: ${CONVERSATIONS} conversations`, async () => {
    await askStrictly(1, CONVERSATIONS);
  });
});

type Fields = Record<string, any>;

interface Wire {
  readonly provider: string;
  readonly model: string;
  readonly path: string;
  /** A body that the vendor takes. */
  readonly body: Fields;
  /** Changes to it, and a piece of what the vendor answers to each. */
  readonly refused: readonly (readonly [change: Fields, words: string])[];
}

const CLAUDE_TURNS = [
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'tide', input: {} }] },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: '' },
      { type: 'text', text: 'go on' },
    ],
  },
];
const TIDE = { name: 'tide', input_schema: { type: 'object', properties: {} } };
const CONVERSE_TURNS = [
  { role: 'user', content: [{ text: 'hi' }] },
  { role: 'assistant', content: [{ toolUse: { toolUseId: 'a.1', name: 'tide', input: {} } }] },
  { role: 'user', content: [{ toolResult: { toolUseId: 'a.1', content: [{ text: 'calm' }] } }] },
];
const CONVERSE_TOOLS = { tools: [{ toolSpec: { name: 'tide', inputSchema: { json: { type: 'object' } } } }] };
const COMMON_TURNS = [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: '',
    tool_calls: [{ id: 'abcdefgh1', type: 'function', function: { name: 'tide', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: 'abcdefgh1', content: '7' },
];
const turned = (role: string, content: unknown, more: Fields = {}): Fields => ({
  messages: [...COMMON_TURNS, { role, content, ...more }],
});
const user = (...content: readonly object[]): Fields => ({ messages: [{ role: 'user', content }] });

const WIRES: readonly Wire[] = [
  {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    path: '/messages',
    body: { model: 'm', max_tokens: 9, messages: CLAUDE_TURNS, tools: [TIDE] },
    refused: [
      [{ seed: 7 }, '("seed")'],
      [{ temperature: 1.2 }, 'must be <= 1'],
      [{ temperature: 0, top_p: 0.5 }, 'cannot both be specified'],
      [{ stop_sequences: [' '] }, 'pattern'],
      [{ max_tokens: 0 }, 'must be >= 1'],
      [{ messages: [{ role: 'system', content: 'x' }] }, '/role'],
      [{ messages: [{ role: 'user', content: ' ' }] }, 'non-whitespace'],
      [user({ type: 'text', text: '' }), 'fewer than 1'],
      [user({ type: 'input_audio' }), 'oneOf'],
      [{ messages: CLAUDE_TURNS.slice(0, 2) }, 'without `tool_result`'],
      [{ messages: CLAUDE_TURNS.slice(2) }, 'unexpected `tool_use_id`'],
      [{ messages: [...CLAUDE_TURNS, { role: 'assistant', content: 'so ' }] }, 'trailing whitespace'],
      [
        { messages: [...CLAUDE_TURNS, { role: 'assistant', content: [] }, { role: 'user', content: 'x' }] },
        'non-empty content',
      ],
      [{ messages: JSON.parse(JSON.stringify(CLAUDE_TURNS).replaceAll('toolu_1', 'call|1')) }, 'pattern'],
      [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, 'greater than'],
      [{ thinking: { type: 'enabled', budget_tokens: 9 } }, '>= 1024'],
      [
        { tools: [{ ...TIDE, input_schema: { type: 'object', properties: { a: { type: 'array', items: [{}] } } } }] },
        'draft 2020-12',
      ],
      [{ tools: [{ ...TIDE, input_schema: { type: 'object', anyOf: [] } }] }, 'top level'],
      [{ tools: [], tool_choice: { type: 'auto' } }, 'while providing tools'],
      [{ tool_choice: { type: 'tool', name: 'other' } }, 'not found'],
      [{ output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } }, 'additionalProperties'],
      [
        { output_config: { format: { type: 'json_schema', schema: { type: 'integer', minimum: 1 } } } },
        "'minimum' is not supported",
      ],
      [
        {
          system: Array.from({ length: 5 }, () => ({ type: 'text', text: 'x', cache_control: { type: 'ephemeral' } })),
        },
        'maximum of 4',
      ],
    ],
  },
  {
    provider: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    path: '/model/m/invoke',
    body: { anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages: CLAUDE_TURNS, tools: [TIDE] },
    refused: [
      [{ model: 'm' }, '("model")'],
      [{ stream: true }, '("stream")'],
      [{ metadata: {} }, '("metadata")'],
      [user({ type: 'image', source: { type: 'url', url: 'https://h/a.png' } }), 'base64'],
    ],
  },
  {
    provider: 'bedrock',
    model: 'mistral.mistral-large-2407-v1:0',
    path: '/model/m/converse',
    body: { messages: CONVERSE_TURNS, toolConfig: CONVERSE_TOOLS },
    refused: [
      [{ inferenceConfig: { temperature: 1.5 } }, 'must be <= 1'],
      [{ inferenceConfig: { topK: 4 } }, '("topK")'],
      [{ toolConfig: undefined }, 'toolConfig field must be defined'],
      [{ messages: CONVERSE_TURNS.slice(1) }, 'start with a user'],
      [{ messages: [CONVERSE_TURNS[0], CONVERSE_TURNS[0]] }, 'alternate'],
      [user({ text: ' ' }), 'blank'],
      [user({ text: '' }), 'fewer than 1'],
      [{ messages: CONVERSE_TURNS.slice(0, 2) }, 'Expected toolResult'],
      [user({ document: { format: 'pdf', name: 'a', source: { bytes: 'AA==' } } }), 'hold a text'],
      [user({ text: 'x' }, { document: { name: 'a.pdf', source: { bytes: 'AA==' } } }), 'pattern'],
      [{ toolConfig: { ...CONVERSE_TOOLS, toolChoice: { none: {} } } }, '("none")'],
      [{ messages: JSON.parse(JSON.stringify(CONVERSE_TURNS).replaceAll('a.1', 'a|1')) }, 'pattern'],
    ],
  },
  {
    provider: 'bedrock',
    model: 'us.amazon.nova-pro-v1:0',
    path: '/model/m/invoke',
    body: {
      schemaVersion: 'messages-v1',
      messages: [{ role: 'user', content: [{ text: 'hi' }] }],
      inferenceConfig: { topK: 4 },
    },
    refused: [[{ inferenceConfig: { temperature: 2 } }, 'must be <= 1']],
  },
  {
    provider: 'gemini',
    model: 'gemini-2.5-flash',
    path: '/models/m:generateContent',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        { role: 'model', parts: [{ functionCall: { name: 'tide', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'tide', response: {} } }] },
      ],
    },
    refused: [
      [{ model: 'm' }, '("model")'],
      [{ contents: [] }, 'fewer than 1'],
      [{ contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, '/role'],
      [{ contents: [{ role: 'user', parts: [] }] }, 'fewer than 1'],
      [{ contents: [{ role: 'user', parts: [{ fileData: { fileUri: 'https://h/a.png' } }] }] }, 'mimeType'],
      [{ contents: [{ role: 'user', parts: [{ functionResponse: { name: '', response: {} } }] }] }, 'pattern'],
      [
        { contents: [{ role: 'user', parts: [{ functionResponse: { name: 'tide', response: {} } }] }] },
        'after a function call turn',
      ],
      ...[
        [{ type: 'number', exclusiveMinimum: 0 }, '("exclusiveMinimum")'],
        [{ type: 'array' }, 'missing field'],
        [{ type: 'integer', enum: ['1'] }, 'STRING'],
        [{ type: 'string', format: 'email' }, 'not supported'],
        [{ type: 'object', required: ['a'] }, 'not defined'],
        [{ type: 'string', enum: [''] }, 'empty'],
        [{ type: 'string', anyOf: [{ type: 'string' }] }, 'only field'],
        [{ $ref: '#/x' }, '("$ref")'],
      ].map(([schema, words]): [Fields, string] => [
        { tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }] },
        words as string,
      ]),
      [{ generationConfig: { logprobs: 2 } }, 'responseLogprobs'],
      [{ toolConfig: { functionCallingConfig: { mode: 'ANY' } } }, 'without function_declarations'],
      [{ generationConfig: { stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] } }, 'more than 5'],
    ],
  },
  {
    provider: 'mistral',
    model: 'mistral-small-latest',
    path: '/chat/completions',
    body: { model: 'm', messages: COMMON_TURNS },
    refused: [
      [{ user: 'jane' }, '("user")'],
      [{ stream_options: {} }, '("stream_options")'],
      [{ temperature: 1.6 }, '<= 1.5'],
      [{ temperature: 0, top_p: 0.5 }, 'greedy'],
      [{ random_seed: -1 }, '>= 0'],
      [turned('developer', 'x'), '"developer"'],
      [turned('user', 'x'), "role 'user' after role 'tool'"],
      [turned('assistant', 'x'), 'Expected last role'],
      [turned('assistant', ''), 'but not none'],
      [turned('assistant', 'x', { name: 'a' }), '("name")'],
      [user({ type: 'file', file: {} }), '("file")'],
      [{ messages: JSON.parse(JSON.stringify(COMMON_TURNS).replaceAll('abcdefgh1', 'call_1')) }, 'pattern'],
      [{ messages: COMMON_TURNS.slice(0, 2) }, 'same number'],
      [{ tools: [{ type: 'function', function: { name: 'f' } }] }, "'parameters'"],
    ],
  },
  {
    provider: 'cohere',
    model: 'command-a-03-2025',
    path: '/v2/chat',
    body: { model: 'm', stream: false, messages: [{ role: 'user', content: 'hi' }] },
    refused: [
      [{ top_p: 1 }, '("top_p")'],
      [{ p: 1 }, '<= 0.99'],
      [{ frequency_penalty: -1 }, '>= 0'],
      [{ messages: [{ role: 'user' }] }, "'content'"],
      [user({ type: 'file' }), 'oneOf'],
      [{ tool_choice: 'AUTO' }, 'allowed values'],
      [{ messages: [{ role: 'user', content: 'x' }, { role: 'assistant' }] }, 'content or tool_calls'],
      [{ messages: [{ role: 'tool', tool_call_id: 'a', content: '7' }] }, 'no tool call'],
    ],
  },
  {
    provider: 'openai',
    model: 'gpt-4.1',
    path: '/chat/completions',
    body: { model: 'm', messages: COMMON_TURNS },
    refused: [
      [{ stream_options: { include_usage: true } }, 'only allowed when'],
      [turned('critic', 'x'), '/role'],
      [{ temperature: 3 }, '<= 2'],
    ],
  },
  {
    provider: 'xai',
    model: 'grok-4',
    path: '/chat/completions',
    body: { model: 'm', messages: COMMON_TURNS },
    refused: [[turned('developer', 'x'), '/role']],
  },
  {
    provider: 'groq',
    model: 'm',
    path: '/chat/completions',
    body: { model: 'm', messages: COMMON_TURNS },
    refused: [
      [{ logit_bias: {} }, 'schema is false'],
      [turned('user', 'x', { name: 'jane' }), 'schema is false'],
      [turned('assistant', 'x', { reasoning_content: 'y' }), 'schema is false'],
    ],
  },
  {
    provider: 'cerebras',
    model: 'm',
    path: '/chat/completions',
    body: { model: 'm', messages: COMMON_TURNS },
    refused: [[turned('assistant', 'x', { reasoning_content: 'y' }), 'schema is false']],
  },
  {
    provider: 'deepseek',
    model: 'm',
    path: '/chat/completions',
    body: { model: 'm', messages: COMMON_TURNS },
    refused: [
      [{ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } }, 'allowed values'],
      [{ user: 'jane' }, 'schema is false'],
      [{ reasoning_effort: 'none' }, 'allowed values'],
    ],
  },
  {
    provider: 'perplexity',
    model: 'm',
    path: '/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    refused: [
      [user({ type: 'file', file: {} }), "'file'"],
      [{ response_format: { type: 'json_object' } }, 'allowed values'],
      [{ tool_choice: { type: 'function' } }, 'allowed values'],
    ],
  },
  {
    provider: 'together',
    model: 'm',
    path: '/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'hi' }], logprobs: 1 },
    refused: [
      [{ logprobs: true }, 'must be'],
      [{ top_logprobs: 1 }, 'schema is false'],
    ],
  },
  {
    provider: 'replicate',
    model: 'm',
    path: '/predictions',
    body: { input: { prompt: 'hi' } },
    refused: [
      [{ input: {} }, "'prompt'"],
      [{ messages: [] }, '("messages")'],
      [{ input: { prompt: 'x', stop_sequences: ['a'] } }, 'must be string'],
    ],
  },
  {
    provider: 'bedrock',
    model: 'amazon.titan-text-express-v1',
    path: '/model/m/invoke',
    body: { inputText: 'hi', textGenerationConfig: {} },
    refused: [
      [{ textGenerationConfig: { temperature: 2 } }, '<= 1'],
      [{ messages: [] }, '("messages")'],
    ],
  },
  {
    provider: 'bedrock',
    model: 'meta.llama3-1-8b-instruct-v1:0',
    path: '/model/m/invoke',
    body: { prompt: 'hi' },
    refused: [[{ stop: ['a'] }, '("stop")']],
  },
  {
    provider: 'ai21',
    model: 'j2-ultra',
    path: '/j2-ultra/complete',
    body: { prompt: 'hi' },
    refused: [[{ topP: 2 }, '<= 1']],
  },
];

describe('the strict vendors of these tests', () => {
  for (const { provider, model, path, body, refused } of WIRES) {
    it(`know what ${provider} refuses of ${model}`, () => {
      const refusals = (change: Fields): string =>
        refusalsOf({ provider, model, path, body: JSON.parse(JSON.stringify({ ...body, ...change })) }).join('; ');
      expect(refusals({})).to.equal('');
      for (const [change, words] of refused) expect(refusals(change), JSON.stringify(change)).to.include(words);
    });
  }

  it('leave out what is wrong by itself', () => {
    const faults = (request: object): string => ownFaults(request as never).join('; ');
    expect(faults({ messages: COMMON_TURNS, tools: [{}], tool_choice: 'auto' })).to.equal('');
    expect(faults({ messages: COMMON_TURNS, tool_choice: 'auto' })).to.include('tool_choice');
    expect(faults({ messages: COMMON_TURNS.slice(0, 2) })).to.include('tool messages responding');
    expect(faults({ messages: COMMON_TURNS.slice(2) }))
      .to.include('preceding message')
      .and.include('not a user');
    expect(faults(turned('critic', 'x'))).to.include('role');
  });
});
