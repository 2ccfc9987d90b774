import { jsonBody } from './exchange.ts';

/** A request's body of one wire: what is said is chosen for each exchange, and the name says what else is in it. */
export type Bodies = Readonly<Record<string, (say: string) => Readonly<Record<string, unknown>>>>;

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
} as const;

const user = (content: unknown): object => ({ role: 'user', content });

const weather = { name: 'weather', description: 'The weather of a city', parameters: schema };
const tools = [{ type: 'function', function: weather }];
const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern","days":2}' } };

/** Chat of the common wire, without model and stream. */
export const CHATS: Bodies = {
  'one message': (say) => ({ messages: [user(say)] }),
  'a conversation': (say) => ({
    messages: [
      { role: 'system', content: 'Be brief.' },
      user('hello'),
      { role: 'assistant', content: 'Hello.' },
      user(say),
    ],
    max_tokens: 64,
    temperature: 0.2,
  }),
  parts: (say) => ({
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      user([
        { type: 'text', text: say },
        { type: 'text', text: 'and more' },
      ]),
    ],
    max_completion_tokens: 100,
  }),
  'an image': (say) => ({
    messages: [
      user([
        { type: 'text', text: say },
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}`, detail: 'low' } },
      ]),
    ],
  }),
  tools: (say) => ({ messages: [user(say)], tools, tool_choice: 'auto', parallel_tool_calls: false, max_tokens: 64 }),
  'a forced tool': (say) => ({
    messages: [user(say)],
    tools,
    tool_choice: { type: 'function', function: { name: 'weather' } },
  }),
  'a tool result': (say) => ({
    messages: [
      user('Weather?'),
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: say },
    ],
    tools,
  }),
  'a schema': (say) => ({
    messages: [user(say)],
    response_format: { type: 'json_schema', json_schema: { name: 'trip', strict: true, schema } },
  }),
  'an object': (say) => ({ messages: [user(say)], response_format: { type: 'json_object' } }),
  sampling: (say) => ({
    messages: [user(say)],
    temperature: 0.7,
    top_p: 0.9,
    stop: ['END', '###'],
    seed: 7,
    presence_penalty: 0.1,
    frequency_penalty: -0.1,
    user: 'u-1',
  }),
  'choices and probabilities': (say) => ({
    messages: [user(say)],
    n: 2,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { '50256': -100 },
  }),
  reasoning: (say) => ({ messages: [user(say)], reasoning_effort: 'low', max_completion_tokens: 2048 }),
  usage: (say) => ({ messages: [user(say)], stream_options: { include_usage: true } }),
  'unknown fields': (say) => ({ messages: [user(say)], shiny: { new: true }, store: false, metadata: { team: 'red' } }),
  search: (say) => ({ messages: [user(say)], web_search_options: { search_context_size: 'low' } }),
};

/** Anthropic Messages, without model and stream. */
export const MESSAGES: Bodies = {
  'one message': (say) => ({ max_tokens: 64, messages: [user(say)] }),
  'a system text': (say) => ({
    max_tokens: 64,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [user('hello'), { role: 'assistant', content: 'Hello.' }, user([{ type: 'text', text: say }])],
    stop_sequences: ['END'],
    temperature: 0.5,
  }),
  tools: (say) => ({
    max_tokens: 64,
    messages: [user(say)],
    tools: [{ name: 'weather', description: 'The weather', input_schema: schema }],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
  }),
  'a tool result': (say) => ({
    max_tokens: 64,
    messages: [
      user('Weather?'),
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern', days: 2 } }],
      },
      user([{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: say }] }]),
    ],
    tools: [{ name: 'weather', input_schema: schema }],
  }),
  thinking: (say) => ({
    max_tokens: 4000,
    thinking: { type: 'enabled', budget_tokens: 1024 },
    messages: [user(say)],
    metadata: { user_id: 'u-1' },
  }),
  'an image': (say) => ({
    max_tokens: 64,
    messages: [
      user([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
        { type: 'text', text: say },
      ]),
    ],
  }),
  'unknown fields': (say) => ({ max_tokens: 64, messages: [user(say)], top_k: 40, shiny: true }),
};

/** Gemini `generateContent`; model and stream stand in the path. */
export const CONTENTS: Bodies = {
  'one message': (say) => ({ contents: [{ role: 'user', parts: [{ text: say }] }] }),
  'a system text': (say) => ({
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'hello' }] },
      { role: 'model', parts: [{ text: 'Hello.' }] },
      { role: 'user', parts: [{ text: say }] },
    ],
    generationConfig: { temperature: 0.4, maxOutputTokens: 64, stopSequences: ['END'], topK: 20 },
  }),
  tools: (say) => ({
    contents: [{ role: 'user', parts: [{ text: say }] }],
    tools: [{ functionDeclarations: [{ name: 'weather', description: 'The weather', parametersJsonSchema: schema }] }],
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['weather'] } },
  }),
  'a tool result': (say) => ({
    contents: [
      { role: 'user', parts: [{ text: 'Weather?' }] },
      { role: 'model', parts: [{ functionCall: { name: 'weather', args: { city: 'Bern', days: 2 } } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { text: say } } }] },
    ],
    tools: [{ functionDeclarations: [{ name: 'weather', parametersJsonSchema: schema }] }],
  }),
  thoughts: (say) => ({
    contents: [{ role: 'user', parts: [{ text: say }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: 512 } },
  }),
  'a schema and an image': (say) => ({
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: PIXEL } }, { text: say }] }],
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  }),
};

/** OpenAI Responses, without model and stream. */
export const RESPONSES: Bodies = {
  'a text': (say) => ({ input: say }),
  items: (say) => ({
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
      { role: 'user', content: [{ type: 'input_text', text: say }] },
    ],
    max_output_tokens: 64,
    temperature: 0.3,
    store: false,
  }),
  tools: (say) => ({ input: say, tools: [{ type: 'function', ...weather, strict: true }], tool_choice: 'required' }),
  'a tool result': (say) => ({
    input: [
      { role: 'user', content: 'Weather?' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Bern","days":2}' },
      { type: 'function_call_output', call_id: 'call_1', output: say },
    ],
    tools: [{ type: 'function', ...weather }],
  }),
  'reasoning and a schema': (say) => ({
    input: say,
    reasoning: { effort: 'low', summary: 'auto' },
    text: { format: { type: 'json_schema', name: 'trip', schema } },
    metadata: { team: 'red' },
  }),
  'an earlier response': (say) => ({ input: say, previous_response_id: 'resp_1' }),
};

export const COMPLETIONS: Bodies = {
  'a prompt': (say) => ({ prompt: say }),
  'a limit': (say) => ({ prompt: say, max_tokens: 16, stop: 'END', echo: false }),
  sampling: (say) => ({ prompt: say, temperature: 0.1, n: 2, stream_options: { include_usage: true } }),
};

export const EMBEDDINGS: Bodies = {
  'a text': (say) => ({ input: say }),
  texts: (say) => ({ input: [say, 'second'] }),
  'texts as floats': (say) => ({ input: [say, 'second'], encoding_format: 'float' }),
  'texts as base64': (say) => ({ input: ['first', say], encoding_format: 'base64', user: 'u-1' }),
  dimensions: (say) => ({ input: [say, 'second'], dimensions: 3 }),
  'unknown fields': (say) => ({ input: [say, 'second'], input_type: 'query', shiny: true }),
  tokens: () => ({
    input: [
      [1, 2],
      [3, 4],
    ],
  }),
};

export const IMAGES: Bodies = {
  'a prompt': (say) => ({ prompt: say }),
  'base64, two': (say) => ({ prompt: say, n: 2, response_format: 'b64_json', size: '1024x1024' }),
  addresses: (say) => ({ prompt: say, response_format: 'url', shiny: 1 }),
  'a size': (say) => ({ prompt: say, size: '1024x1024', quality: 'low' }),
};

export const SPEECHES: Bodies = {
  'a text': (say) => ({ input: say, voice: 'alloy' }),
  options: (say) => ({ input: say, voice: 'verse', response_format: 'wav', speed: 1.5, instructions: 'softly' }),
};

export const MODERATIONS: Bodies = {
  'a text': (say) => ({ input: say }),
  texts: (say) => ({ input: [say, 'two'] }),
};

export const RERANKS: Bodies = {
  texts: (say) => ({ query: say, documents: ['first', 'second', 'third', 'fourth'] }),
  'the best two': (say) => ({
    query: say,
    documents: ['first', 'second', 'third', 'fourth'],
    top_n: 2,
    return_documents: true,
  }),
};

const BOUNDARY = 'replay-boundary';

/** A form with a file of sound. */
export function soundForm(fields: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a.wav"\r\ncontent-type: audio/wav\r\n\r\nRIFF....WAVE\r\n`;
  return Buffer.from(`${parts.join('')}${file}--${BOUNDARY}--\r\n`);
}

export const FORM_TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` } as const;

export const SOUNDS: Bodies = {
  'a file': () => ({}),
  options: (say) => ({ language: 'de', prompt: say, temperature: '0.2', response_format: 'json' }),
  text: () => ({ response_format: 'text' }),
  verbose: () => ({ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }),
};

/** A long text, for bounds and pieces. */
export const LONG = jsonBody({ text: 'lorem ipsum dolor '.repeat(600) }).toString('utf8');
