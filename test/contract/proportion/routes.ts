import { Buffer } from 'node:buffer';
import { commonTranslators } from 'gw/common-wire';
import type { Surface } from '../../../host/contract/index.ts';
import { startHost, stubUpstream, type TestHost } from '../../kit/index.ts';
import { requestsFor } from '../hostile/requests.ts';
import { growthsOf, times } from './growths.ts';
import type { Work } from './work.ts';

type Routed = Exclude<Surface, 'responses' | 'passthrough' | 'mcp'>;
type Uploaded = 'audio.transcriptions' | 'audio.translations' | 'images.edits';

/** Every surface with a route; the types ask for a new one. */
const JSON_ROUTES: Readonly<Record<Exclude<Routed, Uploaded>, string>> = {
  chat: '/v1/chat/completions',
  completions: '/v1/completions',
  messages: '/v1/messages',
  'responses.translated': '/v1/responses',
  generate_content: '/v1beta/models/m:generateContent',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  rerank: '/v1/rerank',
  moderations: '/v1/moderations',
  'audio.speech': '/v1/audio/speech',
};
const FORM_ROUTES: Readonly<Record<Uploaded, string>> = {
  'audio.transcriptions': '/v1/audio/transcriptions',
  'audio.translations': '/v1/audio/translations',
  'images.edits': '/v1/images/edits',
};

/** A gateway with guards that read every text, before an upstream whose answers are of no use. */
export async function startGuarded(): Promise<TestHost> {
  const upstream = await stubUpstream((_request, response) => {
    response.end('{}');
  });
  const translators = commonTranslators(
    [
      'chat',
      'embeddings',
      'images',
      'images.edits',
      'audio.speech',
      'audio.transcriptions',
      'audio.translations',
      'rerank',
      'moderations',
    ],
    {},
  );
  return startHost({
    strategy: { mode: 'single' },
    targets: [upstream.target('a', {}, { translators })],
    responses: { translate: 'auto' },
    plugins: [
      { name: 'word-filter', stage: 'before_request', enabled: true, config: { blocked_words: ['forbidden'] } },
      { name: 'max-token', stage: 'before_request', enabled: true, config: { max_tokens: 4096 } },
    ],
  });
}

/** A request of everything that goes to a target of another wire. */
const MESSAGES = {
  model: 'm',
  max_tokens: 2048,
  system: [{ type: 'text', text: 'short', cache_control: { type: 'ephemeral' } }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'hi' },
        { type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'd' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 'c1', name: 'tide', input: { place: 'x', id: 1 } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'dry' }] },
        { type: 'text', text: 'go on' },
      ],
    },
  ],
  tools: [{ name: 'tide', description: 'd', input_schema: { type: 'object', properties: { a: { type: 'string' } } } }],
  stop_sequences: ['END'],
  metadata: { user_id: 'u' },
  extra: { a: [1, { b: null }] },
};

const RESPONSES = {
  model: 'm',
  instructions: 'short',
  max_output_tokens: 2048,
  metadata: { k: 'v' },
  extra: { a: [1, { b: null }] },
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'hi' },
        { type: 'input_image', image_url: 'https://h/a.png' },
      ],
    },
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'c2ln' },
    { role: 'assistant', content: [{ type: 'output_text', text: 'a' }] },
    { type: 'function_call', call_id: 'c1', name: 'tide', arguments: '{"place":"x"}' },
    { type: 'function_call_output', call_id: 'c1', output: 'dry' },
  ],
  tools: [
    {
      type: 'function',
      name: 'tide',
      description: 'd',
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
    },
    { type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'c' }] },
  ],
};

const GENERATE = {
  systemInstruction: { parts: [{ text: 'short' }] },
  contents: [
    { role: 'user', parts: [{ text: 'hi' }, { inlineData: { mimeType: 'text/plain', data: 'aGk=' } }] },
    {
      role: 'model',
      parts: [
        { text: 'hm', thought: true, thoughtSignature: 'c2ln' },
        { text: 'a' },
        { functionCall: { id: 'c1', name: 'tide', args: { place: 'x', id: 1 } } },
      ],
    },
    {
      role: 'user',
      parts: [{ functionResponse: { id: 'c1', name: 'tide', response: { a: ['dry'] } } }, { text: 'go on' }],
    },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: 'tide', description: 'd', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } },
      ],
    },
  ],
  generationConfig: { stopSequences: ['END'], maxOutputTokens: 2048, extra: { a: [1] } },
  safetySettings: [{ category: 'c' }],
  extra: { a: [1, { b: null }] },
};

function requestOf(surface: Exclude<Routed, Uploaded>): object {
  if (surface === 'responses.translated') return RESPONSES;
  if (surface === 'messages') return MESSAGES;
  if (surface === 'generate_content') return GENERATE;
  const [request] =
    surface === 'completions'
      ? [{ model: 'm', prompt: ['first', 'second'], stop: ['END'], suffix: 's', extra: { a: [1] } }]
      : requestsFor({ surface, model: 'm', stream: false });
  if (!request) throw new Error(`${surface} has no request of everything`);
  return request;
}

/** Every growth of a request of everything, on every route that takes JSON. */
export function jsonWorks(host: () => TestHost): Work[] {
  return (Object.keys(JSON_ROUTES) as (keyof typeof JSON_ROUTES)[]).flatMap((surface) =>
    growthsOf(requestOf(surface)).map(({ what, document }): Work => ({
      what: `${surface}, ${what}`,
      prepare: (size) => {
        const body = Buffer.from(JSON.stringify(document(size)));
        return () => host().post(JSON_ROUTES[surface], body);
      },
    })),
  );
}

const FILE = '--b\r\nContent-Disposition: form-data; name="file"; filename="talk.wav"\r\n\r\nRIFF\r\n';
const field = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

/** What a form may hold much of. */
const FORMS: Readonly<Record<string, (size: number) => string>> = {
  'fields of one name': (size) => times(size, () => field('prompt', 'x')).join(''),
  'fields, each its own': (size) => times(size, (at) => field(`field_${at}`, 'x')).join(''),
  'places in lists': (size) => times(size, (at) => field(`a[${at}]`, 'x')).join(''),
  'items of the one list': (size) => times(size, () => field('timestamp_granularities[]', 'word')).join(''),
  'a long name': (size) => field('n'.repeat(size), 'x'),
  'a long value': (size) => field('prompt', 'x '.repeat(size * 20)),
  'nested names': (size) => field(`a${'[b]'.repeat(size)}`, 'x'),
  'almost boundaries': (size) => field('prompt', '\r\n--'.repeat(size * 10)),
  'headers of a part': (size) =>
    `--b\r\n${times(size, (at) => `X-${at}: y\r\n`).join('')}Content-Disposition: form-data; name="prompt"\r\n\r\nx\r\n`,
  'parameters of a part': (size) =>
    `--b\r\nContent-Disposition: form-data; name="prompt"${'; a="b"'.repeat(size)}\r\n\r\nx\r\n`,
  files: (size) => FILE.repeat(size),
  'a long file': (size) => FILE.replace('RIFF', 'RIFF\r\n'.repeat(size * 20)),
};

/** Every kind of form, on every route that takes one. */
export function formWorks(host: () => TestHost): Work[] {
  return Object.entries(FORM_ROUTES).flatMap(([surface, path]) =>
    Object.entries(FORMS).map(([what, make]): Work => ({
      what: `${surface}, ${what}`,
      prepare: (size) => {
        const body = Buffer.from(`${FILE}${field('model', 'm')}${make(size)}--b--\r\n`);
        return () => host().post(path, body, { 'content-type': 'multipart/form-data; boundary=b' });
      },
    })),
  );
}
