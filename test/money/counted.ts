/** Vendors whose own tools work on an answer: how each says it, whole and streamed, and what it charges. */
import type { Dice } from '../kit/random.ts';

/** How often tools worked, in words of no vendor. */
export interface Tools {
  readonly searches: number;
  /** Pages that were opened, which do not count as searches. */
  readonly opened: number;
  readonly files: number;
  /** Runs of code, by their container. */
  readonly containers: readonly string[];
  readonly places: boolean;
  readonly images: readonly Image[];
  /** How much each search reads; empty where it is not said. */
  readonly size: string;
}

interface Image {
  readonly size: string;
  readonly quality: string;
  readonly isFinished: boolean;
}

export type Said = keyof Tools;

export interface CountedWire {
  readonly name: string;
  readonly provider: string;
  readonly chatVia?: 'responses';
  /** Ends with the mark of the common wire. */
  readonly ends?: boolean;
  /** What this vendor has tools for. */
  readonly tells: readonly Said[];
  readonly path: (stream: boolean) => string;
  readonly body: (use: Tools, stream: boolean) => object;
  readonly whole: (use: Tools) => object;
  readonly events: (use: Tools) => readonly object[];
}

export function toolsOf(dice: Dice): Tools {
  const image = (): Image => ({
    size: dice.pick(['1024x1024', '1536x1024', 'auto']),
    quality: dice.pick(['low', 'high', 'auto']),
    isFinished: dice.below(4) > 0,
  });
  return {
    searches: dice.pick([0, 1, 1 + dice.below(9)]),
    opened: dice.below(3),
    files: dice.below(4),
    containers: Array.from({ length: dice.below(4) }, () => `c${dice.below(3)}`),
    places: dice.below(3) === 0,
    images: Array.from({ length: dice.below(3) }, image),
    size: dice.pick(['', 'low', 'high']),
  };
}

const TOKENS = { input_per_m_tokens: 2, output_per_m_tokens: 8 };
export const PRICING: Readonly<Record<string, object>> = {
  openai: { ...TOKENS, web_search_per_k: 10, file_search_per_k: 2.5, code_session: 0.03, image_tool_model: 'drawer' },
  anthropic: { ...TOKENS, web_search_per_k: 10 },
  gemini: { ...TOKENS, web_search_per_k: 35, web_search_unit: 'prompt', maps_per_k: 25 },
  perplexity: { ...TOKENS, request: { low: 0.005, medium: 0.008, high: 0.012, default: 'low' }, web_search_per_k: 5 },
};

/** US dollars, without the gateway's code: 1,000 tokens of prompt and 100 of answer, and what tools did. */
export function invoiceOf(provider: string, use: Tools, tells: readonly Said[]): number {
  const has = (said: Said): number => Number(tells.includes(said));
  const tokens = (1000 * 2 + 100 * 8) / 1e6;
  if (provider === 'gemini') return tokens + (use.searches > 0 ? 0.035 : 0) + (use.places ? 0.025 : 0);
  if (provider === 'anthropic') return tokens + use.searches * 0.01;
  if (provider === 'perplexity') return tokens + use.searches * 0.005 + (use.size === 'high' ? 0.012 : 0.005);
  const drawn = use.images.filter(({ isFinished }) => isFinished).map(imageUsd);
  return (
    tokens +
    use.searches * 0.01 * has('searches') +
    use.files * 0.0025 * has('files') +
    new Set(use.containers).size * 0.03 * has('containers') +
    drawn.reduce((sum, usd) => sum + usd, 0) * has('images')
  );
}

/** The page of the drawer: what is not said is billed as the dearest that fits. */
function imageUsd({ size, quality }: Image): number {
  if (size === '1536x1024') return 0.05;
  if (quality === 'low') return size === 'auto' ? 0.05 : 0.01;
  return 0.17;
}

const chat = (use: Tools, stream: boolean): object => ({
  model: 'claude-m',
  messages: [{ role: 'user', content: 'hi' }],
  stream,
  ...(use.size !== '' && { web_search_options: { search_context_size: use.size } }),
});

const itemsOf = ({ searches, opened, files, containers, images }: Tools): object[] => [
  ...Array.from({ length: searches }, (_, at) => ({
    type: 'web_search_call',
    id: `ws${at}`,
    status: 'completed',
    ...(at % 2 === 0 && { action: { type: 'search', query: 'q' } }),
  })),
  ...Array.from({ length: opened }, (_, at) => ({
    type: 'web_search_call',
    id: `wo${at}`,
    status: 'completed',
    action: { type: at % 2 === 0 ? 'open_page' : 'find_in_page' },
  })),
  ...Array.from({ length: files }, (_, at) => ({ type: 'file_search_call', id: `fs${at}`, status: 'completed' })),
  ...containers.map((container_id, at) => ({
    type: 'code_interpreter_call',
    id: `ci${at}`,
    status: 'completed',
    container_id,
    code: '1',
  })),
  ...images.map(({ size, quality, isFinished }, at) => ({
    type: 'image_generation_call',
    id: `ig${at}`,
    status: isFinished ? 'completed' : 'failed',
    result: isFinished ? 'aGVsbG8=' : null,
    ...(size !== 'auto' && { size }),
    quality,
  })),
  {
    type: 'message',
    id: 'm',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'hello', annotations: [] }],
  },
];

const response = (output: readonly object[]): object => ({
  id: 'resp',
  object: 'response',
  created_at: 1,
  model: 'claude-m',
  status: 'completed',
  tools: [{ type: 'image_generation', model: 'drawer' }],
  output,
  usage: { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 },
});

const responses = (use: Tools): readonly object[] => {
  const items = itemsOf(use);
  return [
    { type: 'response.created', response: { id: 'resp', object: 'response', model: 'claude-m', output: [] } },
    ...items.map((item, output_index) => ({ type: 'response.output_item.added', output_index, item })),
    {
      type: 'response.output_text.delta',
      item_id: 'm',
      output_index: items.length - 1,
      content_index: 0,
      delta: 'hello',
    },
    ...items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item })),
    { type: 'response.completed', response: response(items) },
  ];
};

const OPENAI = {
  provider: 'openai',
  tells: ['searches', 'files', 'containers', 'images'],
  whole: (use: Tools) => response(itemsOf(use)),
  events: responses,
} as const;

const claudeUsage = ({ searches }: Tools): object => ({
  input_tokens: 1000,
  output_tokens: 100,
  ...(searches > 0 && { server_tool_use: { web_search_requests: searches, web_fetch_requests: 3 } }),
});
const CLAUDE = {
  provider: 'anthropic',
  tells: ['searches'],
  whole: (use: Tools) => ({
    id: 'msg',
    type: 'message',
    role: 'assistant',
    model: 'claude-m',
    content: [{ type: 'text', text: 'hello' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: claudeUsage(use),
  }),
  events: (use: Tools) => [
    {
      type: 'message_start',
      message: {
        id: 'msg',
        type: 'message',
        role: 'assistant',
        model: 'claude-m',
        content: [],
        usage: { input_tokens: 1000, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: claudeUsage(use) },
    { type: 'message_stop' },
  ],
} as const;

const grounding = ({ searches, places }: Tools): object => ({
  groundingMetadata: {
    webSearchQueries: ['', ...Array.from({ length: searches }, (_, at) => `question ${at % 3}`)],
    ...(places && { groundingChunks: [{ maps: { uri: 'https://maps.example/1', title: 'x' } }] }),
  },
});
const geminiUsage = { usageMetadata: { promptTokenCount: 1000, candidatesTokenCount: 100, totalTokenCount: 1100 } };
const GEMINI = {
  provider: 'gemini',
  tells: ['searches', 'places'],
  whole: (use: Tools) => ({
    candidates: [
      { index: 0, content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP', ...grounding(use) },
    ],
    ...geminiUsage,
  }),
  events: (use: Tools) => [
    { candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'hel' }] }, ...grounding(use) }] },
    {
      candidates: [
        { index: 0, content: { role: 'model', parts: [{ text: 'hello' }] }, finishReason: 'STOP', ...grounding(use) },
      ],
      ...geminiUsage,
    },
  ],
} as const;

const sonar = (use: Tools): object => ({
  usage: {
    prompt_tokens: 1000,
    completion_tokens: 100,
    total_tokens: 1100,
    num_search_queries: use.searches,
    ...(use.size !== '' && { search_context_size: use.size }),
  },
});

const CHAT_PATH = (): string => '/v1/chat/completions';

export const WIRES: readonly CountedWire[] = [
  {
    ...OPENAI,
    name: 'Responses of OpenAI',
    path: () => '/v1/responses',
    body: (_use, stream) => ({ model: 'claude-m', input: 'hi', stream }),
  },
  { ...OPENAI, name: 'chats by the Responses API', chatVia: 'responses', path: CHAT_PATH, body: chat },
  { ...CLAUDE, name: 'chats of Claude', path: CHAT_PATH, body: chat },
  {
    ...CLAUDE,
    name: 'Messages of Claude',
    path: () => '/v1/messages',
    body: (_use, stream) => ({
      model: 'claude-m',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'hi' }],
      stream,
    }),
  },
  { ...GEMINI, name: 'chats of Gemini', path: CHAT_PATH, body: chat },
  {
    ...GEMINI,
    name: 'Gemini in its own wire',
    path: (stream) => `/v1beta/models/claude-m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }),
  },
  {
    name: 'chats of Perplexity',
    provider: 'perplexity',
    ends: true,
    tells: ['searches', 'size'],
    path: CHAT_PATH,
    body: chat,
    whole: (use) => ({
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
      ...sonar(use),
    }),
    events: (use) => [
      { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'hello' }, finish_reason: null }] },
      { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...sonar(use) },
    ],
  },
];
