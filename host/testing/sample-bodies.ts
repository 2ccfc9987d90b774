import type { ChatRequest } from '../contract/index.ts';

interface Sample {
  readonly title: string;
  readonly request: ChatRequest;
}

const tool = {
  type: 'function',
  function: {
    name: 'look_up',
    description: 'Looks a word up',
    parameters: { type: 'object', properties: { word: { type: 'string' } }, required: ['word'] },
  },
} as const;
const call = {
  id: 'call_1',
  type: 'function',
  function: { name: 'look_up', arguments: '{"word":"harbour"}' },
} as const;
const user = { role: 'user', content: 'What is a harbour?' } as const;
const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

const sample = (title: string, request: Omit<ChatRequest, 'model'>): Sample => ({
  title,
  request: { model: 'm', ...request } as ChatRequest,
});

/** Requests that clients send: each must leave whole, or be refused with a message for the client. */
export const CHAT_REQUESTS: readonly Sample[] = [
  sample('a question with a system prompt', { messages: [{ role: 'system', content: 'Answer in one word.' }, user] }),
  sample('a conversation of several turns', {
    messages: [user, { role: 'assistant', content: 'A place for ships.' }, { role: 'user', content: 'And a pier?' }],
  }),
  sample('content in parts', {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'first part' },
          { type: 'text', text: 'second part' },
        ],
      },
    ],
  }),
  sample('an image', {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: PIXEL } },
        ],
      },
    ],
  }),
  sample('tools', { messages: [user], tools: [tool] }),
  sample('the result of a tool', {
    messages: [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'a sheltered place' },
    ],
    tools: [tool],
  }),
  sample('sampling', { messages: [user], temperature: 0.2, top_p: 0.9, max_tokens: 64, stop: ['END'] }),
  sample('a request for JSON', { messages: [user], response_format: { type: 'json_object' } }),
  sample('a stream', { messages: [user], stream: true }),
];

/** Bodies that no service should send, and some do. */
export const NO_ANSWERS: readonly string[] = [
  '',
  ' ',
  'null',
  '0',
  '""',
  '[]',
  '[null]',
  '{}',
  '{"error":"broken"}',
  '{"error":{"message":"broken"}}',
  '{"choices":[{"message":',
  '{"choices":7}',
  '{"data":[null]}',
  '<html>busy</html>',
  '\u0000\u0001\u0002',
];
