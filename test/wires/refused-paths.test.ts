import { expect } from 'chai';
import { replyJson, startHost, stubUpstream, type TestHost } from '../kit/index.ts';

const VARIABLES = {
  ANTHROPIC_API_KEY: 'vendor-key-0123456789',
  COHERE_API_KEY: 'vendor-key-0123456789',
  GEMINI_API_KEY: 'vendor-key-0123456789',
  AWS_BEARER_TOKEN_BEDROCK: 'vendor-key-0123456789',
};
const AUDIO = Buffer.from('RIFF some sound').toString('base64');
const PDF = Buffer.from('%PDF-1.7 some page').toString('base64');
const PIXEL = 'https://vendor.example/pixel.png';

interface Refused {
  readonly key: string;
  readonly model: string;
  readonly path: string;
  readonly body: object;
  /** What the refusal begins with. */
  readonly names: string;
}

const gemini = (parts: readonly object[], more: object = {}): Pick<Refused, 'path' | 'body'> => ({
  path: '/v1beta/models/m:generateContent',
  body: {
    ...more,
    contents: [
      { role: 'user', parts: [{ text: 'first' }] },
      { role: 'model', parts: [{ text: 'yes?' }] },
      { role: 'user', parts },
    ],
  },
});
const messages = (content: readonly object[], more: object = {}): Pick<Refused, 'path' | 'body'> => ({
  path: '/v1/messages',
  body: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content }], ...more },
});
const responses = (input: readonly object[], more: object = {}): Pick<Refused, 'path' | 'body'> => ({
  path: '/v1/responses',
  body: { model: 'm', input, ...more },
});

const ANTHROPIC = { key: 'anthropic', model: 'claude-sonnet-4-5' };
const COHERE = { key: 'cohere', model: 'command-a-03-2025' };
const NOVA = { key: 'bedrock', model: 'amazon.nova-pro-v1:0' };
const GEMINI = { key: 'gemini', model: 'gemini-2.5-flash' };

const CASES: Readonly<Record<string, Refused>> = {
  'sound of a Gemini client': {
    ...ANTHROPIC,
    ...gemini([{ text: 'hear' }, { inlineData: { mimeType: 'audio/wav', data: AUDIO } }], {
      systemInstruction: { parts: [{ text: 'be brief' }] },
    }),
    names: 'contents[2].parts[1]: ',
  },
  'a file of a Gemini client': {
    ...COHERE,
    ...gemini([{ inlineData: { mimeType: 'application/pdf', data: PDF } }]),
    names: 'contents[2].parts[0]: ',
  },
  'an address of a Gemini client': {
    ...NOVA,
    ...gemini([{ text: 'see' }, { fileData: { mimeType: 'image/png', fileUri: PIXEL } }]),
    names: 'contents[2].parts[1]: ',
  },
  'a picture behind instructions': {
    ...NOVA,
    ...messages(
      [
        { type: 'text', text: 'see' },
        { type: 'image', source: { type: 'url', url: PIXEL } },
      ],
      { system: 'be brief' },
    ),
    names: 'messages[0].content[1]: ',
  },
  'a document that is the only block': {
    ...COHERE,
    ...messages(
      [
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: PDF },
          cache_control: { type: 'ephemeral' },
        },
      ],
      { system: 'be brief' },
    ),
    names: 'messages[0].content[0]: ',
  },
  'sound of a Responses client': {
    ...ANTHROPIC,
    ...responses([{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: AUDIO, format: 'wav' } }] }], {
      instructions: 'be brief',
    }),
    names: 'input[0].content[0]: ',
  },
  'a file of a Responses client': {
    ...COHERE,
    ...responses([
      { role: 'user', content: 'first' },
      {
        role: 'user',
        content: [{ type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` }],
      },
    ]),
    names: 'input[1].content[0]: ',
  },
  'arguments of a Responses client': {
    ...ANTHROPIC,
    ...responses(
      [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: 'c1', name: 'f', arguments: '[1]' },
        { type: 'function_call_output', call_id: 'c1', output: 'x' },
      ],
      { instructions: 'be brief' },
    ),
    names: 'input[1].arguments ',
  },
  'a turn without a word of a Responses client': {
    ...GEMINI,
    ...responses([{ role: 'user', content: '' }]),
    names: 'input: ',
  },
};

async function hostOf({ key, model }: Refused): Promise<{ readonly host: TestHost; readonly calls: () => number }> {
  const upstream = await stubUpstream((_request, response) => replyJson(response, 200, {}));
  const roots = {
    ANTHROPIC_BASE_URL: upstream.url,
    COHERE_BASE_URL: upstream.url,
    GEMINI_BASE_URL: upstream.url,
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: upstream.url,
  };
  const host = await startHost(
    { responses: { translate: 'auto' }, targets: [{ virtual_key: key, models: ['m'], model_map: { m: model } }] },
    { variables: { ...VARIABLES, ...roots } },
  );
  return { host, calls: () => upstream.seen.length };
}

describe('what a target of another wire refuses', () => {
  for (const [what, refused] of Object.entries(CASES)) {
    it(`is named by the client's own path: ${what}`, async () => {
      const { host, calls } = await hostOf(refused);
      const answer = await host.post(refused.path, refused.body);
      expect([answer.status, calls()]).to.deep.equal([400, 0]);
      const { message } = answer.json().error;
      expect(message.startsWith(refused.names), message).to.equal(true);
    });
  }
});
