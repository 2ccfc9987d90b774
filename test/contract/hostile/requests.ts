import { readChatRequest } from '../../../builtins/surfaces/chat-request.ts';
import { GatewayError, type ProviderModule, type TranslatedSurface } from '../../../host/contract/index.ts';
import { parseJsonObject } from '../../../host/http/body/json-body.ts';
import { callFor } from '../../kit/index.ts';
import { type Edit, editsOf } from './edits.ts';
import { type HostileWire, wiresOf } from './wires.ts';

const IMAGE = 'data:image/png;base64,iVBORw0KGgo=';

const SCHEMA = {
  type: 'object',
  required: ['a'],
  additionalProperties: false,
  $defs: { b: { type: ['string', 'null'], enum: ['x', null] } },
  properties: {
    a: { type: 'integer', minimum: 0, description: 'first' },
    b: { $ref: '#/$defs/b' },
    c: { type: 'array', items: { oneOf: [{ type: 'string', format: 'uuid' }, { const: 1 }] } },
  },
};

const call = (id: string, text: string): object => ({
  id,
  type: 'function',
  function: { name: 'tide', arguments: text },
});

/** A chat request that uses everything some wire translates. */
const CHAT = {
  messages: [
    { role: 'system', content: 'short' },
    { role: 'developer', content: [{ type: 'text', text: 'terse', cache_control: { type: 'ephemeral' } }] },
    {
      role: 'user',
      name: 'ann',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'image_url', image_url: { url: IMAGE, detail: 'low' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERg==', filename: 'a.pdf' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      content: 'a',
      reasoning_content: 'hm',
      tool_calls: [call('c1', '{"place":"x","id":12345678901234567890}'), call('c2', '')],
      reasoning_details: [
        { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'hm', signature: 's' },
        { format: 'google-gemini-v1', data: 'd', start: 0, end: 1 },
        { format: 'google-gemini-v1', data: 'd', id: 'c1' },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"tide":1}' },
    { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: 'dry' }] },
    { role: 'user', content: 'go on' },
  ],
  temperature: 0.5,
  top_p: 0.9,
  top_k: 4,
  n: 1,
  seed: 7,
  max_tokens: 64,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  stop: ['END', 'x'],
  user: 'u',
  logit_bias: { 50: 1 },
  logprobs: true,
  top_logprobs: 2,
  tools: [
    {
      type: 'function',
      function: { name: 'tide', description: 'd', parameters: SCHEMA, strict: true },
      cache_control: { type: 'ephemeral' },
    },
  ],
  tool_choice: { type: 'function', function: { name: 'tide' } },
  parallel_tool_calls: false,
  response_format: { type: 'json_schema', json_schema: { name: 's', description: 'd', schema: SCHEMA, strict: true } },
  stream_options: { include_usage: true },
  reasoning_effort: 'low',
  thinking: { type: 'enabled', budget_tokens: 2048 },
  metadata: { user_id: 'u', label: 'x' },
  service_tier: 'auto',
  output_config: { effort: 'low' },
  modalities: ['text'],
  cache_control: { type: 'ephemeral' },
  safety_settings: [],
  cached_content: 'c',
  documents: [{ id: '1', data: { text: 'x' } }],
  extra: { a: [1, { b: null }] },
};

const BODIES: Readonly<Partial<Record<TranslatedSurface, object>>> = {
  chat: CHAT,
  embeddings: {
    input: ['first', 'second'],
    encoding_format: 'float',
    dimensions: 3,
    input_type: 'search_query',
    extra: 1,
  },
  images: { prompt: 'a harbour', n: 1, size: '1024x1024', quality: 'hd', style: 'vivid', user: 'u', extra: 1 },
  rerank: {
    query: 'q',
    documents: ['first', 'second', 'third', 'fourth'],
    top_n: 2,
    return_documents: true,
    max_tokens_per_doc: 10,
    extra: 1,
  },
  moderations: {
    input: ['one', { type: 'text', text: 'two' }, { type: 'image_url', image_url: { url: IMAGE } }],
    extra: 1,
  },
  'audio.speech': { input: 'hello', voice: 'alloy', response_format: 'mp3', speed: 1, extra: 1 },
};

/** Requests that the gateway takes, each with a part left out that some provider refuses at once; changed ones are made of them. */
export function requestsFor({
  surface,
  model,
  stream,
}: Pick<HostileWire, 'surface' | 'model' | 'stream'>): readonly object[] {
  const body = BODIES[surface];
  if (!body) return [];
  const head = { model, ...(stream && { stream }) };
  if (surface !== 'chat') return [{ ...head, ...body }];
  const whole = { ...head, ...CHAT };
  const {
    messages,
    tools: _tools,
    tool_choice: _choice,
    response_format: _format,
    thinking: _thinking,
    ...plain
  } = whole;
  const texts = messages.map((message) => ({
    ...message,
    content: Array.isArray(message.content) ? message.content.filter(({ type }) => type === 'text') : message.content,
  }));
  return [
    whole,
    { ...whole, messages: texts },
    { ...plain, messages: texts.filter(({ role }) => role === 'user' || role === 'system') },
    { ...whole, messages: texts, response_format: undefined, tool_choice: 'auto' },
  ];
}

/** What goes wrong when the provider translates changed chat requests, of those that the gateway's reader takes. */
export function translationProblems(module: ProviderModule, takes: (what: string, at: number) => boolean): string[] {
  const problems: string[] = [];
  for (const model of new Set(
    wiresOf(module)
      .filter(({ surface }) => surface === 'chat')
      .map((wire) => wire.model),
  )) {
    for (const [variant, request] of requestsFor({ surface: 'chat', model, stream: variantStreams(model) }).entries()) {
      for (const edit of editsOf(request).filter(({ what }, at) => takes(what, at + variant))) {
        const problem = translationProblem(module, model, edit);
        if (problem !== undefined) problems.push(`${model}, ${variant}, ${edit.what}: ${problem}`);
      }
    }
  }
  return problems;
}

/** Every other model is asked to stream. */
const variantStreams = (model: string): boolean => model.length % 2 === 0;

/** Anything thrown that is not for the client to read is a fault of the gateway's own. */
function translationProblem({ translators: { chat } }: ProviderModule, model: string, edit: Edit): string | undefined {
  try {
    const request = readChatRequest(parseJsonObject(Buffer.from(edit.text())));
    const { body } = chat?.toUpstream(request, callFor(model, { stream: request.stream === true })) ?? {};
    JSON.stringify(body);
    return undefined;
  } catch (error) {
    return error instanceof GatewayError ? undefined : String((error as Error).stack).slice(0, 300);
  }
}
