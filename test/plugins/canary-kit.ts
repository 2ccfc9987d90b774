import { definePlugin, type Exchange, reject, texts, type Verdict, windowGuard } from 'gw/contract';
import Joi from 'joi';

/** A text that a guardrail looks for, the guardrail, and bodies that it is put into. */
export const CANARY = 'the canary sings';

export const guard = definePlugin<{ stream: string }>({
  name: 'canary',
  type: 'guardrail',
  summary: 'For this test',
  stages: ['before_request', 'after_request'],
  settings: Joi.object<{ stream: string }>({ stream: Joi.string().default('end') }),
  create: ({ stream }) => {
    const look = (exchange: Exchange): Verdict | undefined =>
      texts(exchange).some((text) => text.includes(CANARY)) ? reject('canary') : undefined;
    const window = (): ReturnType<typeof windowGuard> =>
      windowGuard((text) => ({ isMatch: text.includes(CANARY), keep: CANARY.length - 1 }), 'canary');
    return { before_request: look, after_request: look, ...(stream === 'window' && { stream: window }) };
  },
});

export type Json = Readonly<Record<string, any>>;

/** Requests that use every member their surface knows, and one that it only forwards. */
export const CHAT: Json = {
  model: 'm',
  messages: [
    { role: 'system', name: 'n', content: 'text' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'text' },
        { type: 'image_url', image_url: { url: 'https://h/i.png', detail: 'low' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        { type: 'file', file: { file_data: 'AAAA', filename: 'text' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      reasoning_content: 'text',
      reasoning_details: [{ type: 'reasoning.text', text: 'text', signature: 'AAAA' }],
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"text"}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'text' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'f',
        description: 'text',
        parameters: { type: 'object', description: 'text', properties: { a: { type: 'string', enum: ['text'] } } },
      },
    },
  ],
  response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object', description: 'text' } } },
  tool_choice: { type: 'function', function: { name: 'text' } },
  user: 'text',
  stop: ['text'],
  prediction: { type: 'content', content: 'text' },
  only_forwarded: { deep: ['text'] },
};
/** A request of Anthropic's wire, with what only its vendor knows. */
export const MESSAGES: Json = {
  model: 'm',
  max_tokens: 2048,
  system: [{ type: 'text', text: 'text', cache_control: { type: 'ephemeral', ttl: '5m' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'text' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://h/i.png' } },
        {
          type: 'document',
          title: 'text',
          context: 'text',
          source: { type: 'text', media_type: 'text/plain', data: 'text' },
        },
        { type: 'search_result', title: 'text', source: 'text', content: [{ type: 'text', text: 'text' }] },
        { type: 'hologram', of: ['text'] },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'text', signature: 'AAAA' },
        { type: 'redacted_thinking', data: 'AAAA' },
        { type: 'text', text: 'text', citations: [{ type: 'char_location', cited_text: 'text' }] },
        { type: 'tool_use', id: 'c', name: 'f', input: { a: 'text', id: 'text', role: 'text', type: 'text' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'text', text: 'text' }] }] },
  ],
  tools: [
    {
      name: 'f',
      description: 'text',
      input_schema: { type: 'object', description: 'text', properties: { type: { type: 'string', enum: ['text'] } } },
    },
  ],
  tool_choice: { type: 'auto' },
  thinking: { type: 'enabled', budget_tokens: 1024, display: 'omitted' },
  stop_sequences: ['text'],
  metadata: { user_id: 'text' },
  service_tier: 'auto',
  only_forwarded: { deep: ['text'] },
};
/** A request of the Responses API, which goes on as it is. */
const RESPONSES: Json = {
  model: 'm',
  instructions: 'text',
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'text' }] },
    { type: 'function_call', name: 'f', call_id: 'c', arguments: '{"a":"text"}' },
    { type: 'function_call_output', call_id: 'c', output: 'text' },
  ],
  tools: [
    {
      type: 'function',
      name: 'f',
      description: 'text',
      parameters: { type: 'object', description: 'text', properties: { a: { type: 'string', enum: ['text'] } } },
    },
  ],
  text: { format: { type: 'json_schema', name: 'n', schema: { type: 'object', description: 'text' } } },
  metadata: { a: 'text' },
  only_forwarded: { deep: ['text'] },
};
export const REQUESTS: Readonly<Record<string, Json>> = {
  '/v1/responses': RESPONSES,
  '/v1/images/edits': { model: 'm', prompt: 'text', images: [{ image_url: 'text' }] },
  '/v1/images/variations': { model: 'm', only_forwarded: 'text' },
  '/v1/ocr': { model: 'm', document: { type: 'document_url', document_url: 'text' } },
  '/v1/responses/compact': RESPONSES,
  '/v1/responses/input_tokens': RESPONSES,
  '/v1/chat/completions': CHAT,
  '/v1/messages': MESSAGES,
  '/v1/messages/count_tokens': MESSAGES,
  '/v1/completions': { model: 'm', prompt: 'text', stop: ['text'], user: 'text', only_forwarded: 'text' },
  '/v1/embeddings': { model: 'm', input: ['text', 'text'], user: 'text', only_forwarded: { deep: ['text'] } },
  '/v1/images/generations': {
    model: 'm',
    prompt: 'text',
    user: 'text',
    size: '1x1',
    quality: 'hd',
    style: 'vivid',
    only_forwarded: 'text',
  },
  '/v1/rerank': { model: 'm', query: 'text', documents: ['text', 'text'], only_forwarded: ['text'] },
  '/v1/moderations': { model: 'm', input: ['text', 'text'], only_forwarded: 'text' },
  '/v1/audio/speech': { model: 'm', input: 'text', voice: 'alloy', instructions: 'text', only_forwarded: 'text' },
};
/** Every member that the Gemini wire knows, and some that it does not. */
export const GENERATE: Json = {
  contents: [
    {
      role: 'user',
      parts: [
        { text: 'text' },
        { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'text' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://h/i.png' } },
      ],
    },
    {
      role: 'model',
      parts: [
        { text: 'text', thought: true, thoughtSignature: 'AAAA' },
        { functionCall: { id: 'c', name: 'f', args: { a: 'text', deep: ['text'] } } },
        { executableCode: { language: 'PYTHON', code: 'text' } },
        { novelty: 'text' },
      ],
    },
    { role: 'user', parts: [{ functionResponse: { id: 'c', name: 'f', response: { output: 'text' } } }] },
  ],
  systemInstruction: { role: 'user', parts: [{ text: 'text' }] },
  tools: [
    {
      functionDeclarations: [
        {
          name: 'f',
          description: 'text',
          parameters: { type: 'OBJECT', description: 'text', properties: { a: { type: 'STRING', enum: ['text'] } } },
        },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['f'] } },
  generationConfig: {
    stopSequences: ['text'],
    responseMimeType: 'application/json',
    responseJsonSchema: { type: 'object', description: 'text' },
    thinkingConfig: { thinkingLevel: 'LOW' },
    mediaResolution: 'MEDIA_RESOLUTION_LOW',
  },
  labels: { a: 'text' },
  serviceTier: 'flex',
  cachedContent: 'text',
  safetySettings: [{ category: 'X', threshold: 'Y' }],
  novelty: { deep: ['text'] },
};
export const EMBED: Json = { content: { parts: [{ text: 'text' }] }, title: 'text', novelty: 'text' };

/** An answer of the Responses API. */
export const RESPONSE: Json = {
  model: 'm',
  instructions: 'text',
  user: 'text',
  safety_identifier: 'text',
  metadata: { k: 'text' },
  only_here: { deep: ['text'] },
  input: [
    { type: 'message', role: 'developer', content: 'text' },
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'text' },
        { type: 'input_image', image_url: 'https://h/i.png', detail: 'low' },
        { type: 'input_file', file_data: 'AAAA', filename: 'text' },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      type: 'reasoning',
      id: 'rs_1',
      summary: [{ type: 'summary_text', text: 'text' }],
      content: [{ type: 'reasoning_text', text: 'text' }],
      encrypted_content: 'gAAA',
    },
    {
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'text', annotations: [] },
        { type: 'refusal', refusal: 'text' },
      ],
    },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"a":"text"}' },
    { type: 'function_call_output', call_id: 'a', output: 'text' },
    { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'text' },
    { type: 'custom_tool_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'text' }] },
    { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: { query: 'text' } },
    {
      type: 'tool_search_output',
      call_id: 'c',
      tools: [{ type: 'function', name: 'h', description: 'text', parameters: { type: 'object' } }],
    },
    {
      type: 'additional_tools',
      role: 'developer',
      tools: [
        {
          type: 'namespace',
          name: 'n',
          description: 'text',
          tools: [{ type: 'function', name: 'i', description: 'text', parameters: { description: 'text' } }],
        },
      ],
    },
  ],
  tools: [
    {
      type: 'function',
      name: 'f',
      description: 'text',
      parameters: {
        type: 'object',
        properties: {
          a: { enum: ['text'], default: { data: 'text' } },
          b: {
            examples: [
              { type: 'input_file', file_data: 'text' },
              { type: 'input_image', image_url: 'text' },
            ],
          },
        },
      },
      strict: true,
    },
    { type: 'custom', name: 'g', description: 'text', format: { type: 'grammar', syntax: 'lark', definition: 'text' } },
    { type: 'tool_search', execution: 'client', description: 'text' },
    { type: 'web_search', filters: { allowed_domains: ['text'] } },
  ],
  text: { format: { type: 'json_schema', name: 'n', schema: { description: 'text' }, description: 'text' } },
};
