import { expect } from 'chai';
import { APIError, type OpenAI, toFile } from 'openai';
import { withVendors } from './support/vendor-gateway.ts';
import { keyOf } from './support/vendors/server.ts';

type Call = (client: OpenAI, model: string) => Promise<unknown>;

const messages = [{ role: 'user' as const, content: 'ahoy' }];
const recording = (): Promise<File> => toFile(Buffer.from('x'), 'x.wav');

const CALLS: Readonly<Record<string, Call>> = {
  chat: (client, model) => client.chat.completions.create({ model, messages }),
  'streamed chat': (client, model) => client.chat.completions.create({ model, messages, stream: true }),
  completions: (client, model) => client.completions.create({ model, prompt: 'ahoy' }),
  embeddings: (client, model) => client.embeddings.create({ model, input: 'ahoy' }),
  images: (client, model) => client.images.generate({ model, prompt: 'a quay' }),
  speech: (client, model) => client.audio.speech.create({ model, input: 'ahoy', voice: 'alloy' }),
  transcriptions: async (client, model) => client.audio.transcriptions.create({ model, file: await recording() }),
  translations: async (client, model) => client.audio.translations.create({ model, file: await recording() }),
  moderations: (client, model) => client.moderations.create({ model, input: 'ahoy' }),
};

const OUTCOMES = [
  {
    name: 'BadRequestError',
    when: 'the vendor refuses the request',
    model: 'openai/unfit',
    status: 400,
    code: 'invalid_request',
    message: 'this model does not take that',
  },
  {
    name: 'NotFoundError',
    when: 'the vendor retired the model',
    model: 'openai/gone',
    status: 404,
    code: 'model_not_found',
  },
  {
    name: 'NotFoundError',
    when: 'no target serves the model',
    model: 'nosuch/has-this',
    status: 404,
    code: 'model_not_found',
  },
  {
    name: 'RateLimitError',
    when: 'the vendor is overrun',
    model: 'openai/limited',
    status: 429,
    code: 'rate_limit_exceeded',
    retryAfter: '7',
  },
  {
    name: 'InternalServerError',
    when: 'the vendor breaks',
    model: 'openai/broken',
    status: 502,
    code: 'upstream_error',
  },
] as const;

const LACKING: Readonly<Record<string, Call>> = {
  'chat without messages': (client, model) => client.chat.completions.create({ model, messages: [] }),
  'an embedding of nothing': (client, model) => client.embeddings.create({ model, input: [] }),
  'an unknown encoding': (client, model) =>
    client.embeddings.create({ model, input: 'x', encoding_format: 'hex' as 'float' }),
  'an image of nothing': (client, model) => client.images.generate({ model, prompt: '' }),
  'no image at all': (client, model) => client.images.generate({ model, prompt: 'x', n: 0 }),
  'speech without a voice': (client, model) => client.audio.speech.create({ model, input: 'x', voice: '' }),
  'a speech too long': (client, model) =>
    client.audio.speech.create({ model, input: 'x'.repeat(4097), voice: 'alloy' }),
  'a temperature that is not a number': async (client, model) =>
    client.audio.transcriptions.create({ model, file: await recording(), temperature: Number.NaN }),
  'moderation of nothing': (client, model) => client.moderations.create({ model, input: null as unknown as string }),
  'a rerank of nothing': (client, model) => client.post('/rerank', { body: { model, query: 'x', documents: [] } }),
  'a rerank of less than nothing': (client, model) =>
    client.post('/rerank', { body: { model, query: 'x', documents: ['y'], top_n: -1 } }),
};

async function failureOf(call: Promise<unknown>): Promise<APIError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof APIError))
    throw new Error(`no error of the client's own, but ${String(error)}`, { cause: error });
  return error;
}

describe('what the openai client throws, surface by surface', function suite() {
  const gateway = withVendors();

  for (const { name, when, model, status, code, ...more } of OUTCOMES) {
    it(`is ${name} when ${when}`, async () => {
      for (const [surface, call] of Object.entries(CALLS)) {
        const error = await failureOf(call(gateway().client, model));
        expect({ surface, name: error.constructor.name, status: error.status, code: error.code }).to.deep.equal({
          surface,
          name,
          status,
          code,
        });
        expect(error.message, surface).to.not.include('an internal detail').and.not.include(keyOf('openai'));
        if ('message' in more) expect((error.error as { message: string }).message, surface).to.equal(more.message);
        expect(error.headers?.get('retry-after'), surface).to.equal('retryAfter' in more ? more.retryAfter : null);
      }
      const visits = gateway().vendors.visits.filter(({ vendor }) => vendor === 'openai');
      expect(visits.length, 'one try each').to.equal(model.startsWith('openai/') ? Object.keys(CALLS).length : 0);
    });
  }

  it('is AuthenticationError for a wrong key, and no vendor hears of it', async () => {
    const stranger = gateway().client.withOptions({ apiKey: `gw_${'f'.repeat(32)}` });
    const calls: Readonly<Record<string, Call>> = {
      ...CALLS,
      models: (client) => Array.fromAsync(client.models.list()),
      model: (client, model) => client.models.retrieve(model),
    };
    for (const [surface, call] of Object.entries(calls)) {
      const error = await failureOf(call(stranger, 'openai/chat'));
      expect({ surface, name: error.constructor.name, code: error.code }).to.deep.equal({
        surface,
        name: 'AuthenticationError',
        code: 'invalid_api_key',
      });
    }
    expect(gateway().vendors.visits).to.deep.equal([]);
  });

  it('is BadRequestError for what cannot be asked, and no vendor hears of it', async () => {
    for (const [what, call] of Object.entries(LACKING)) {
      const model = what.includes('rerank') ? 'together/rerank' : 'openai/chat';
      const error = await failureOf(call(gateway().client, model));
      expect({ what, name: error.constructor.name, code: error.code }).to.deep.equal({
        what,
        name: 'BadRequestError',
        code: 'invalid_request',
      });
    }
    expect(gateway().vendors.visits).to.deep.equal([]);
  });

  it("is NotFoundError when the model's provider does not serve the surface", async () => {
    for (const [surface, call] of Object.entries(CALLS)) {
      if (/chat|completions/.test(surface)) continue;
      const error = await failureOf(call(gateway().client, 'cerebras/chat'));
      expect({ surface, name: error.constructor.name, code: error.code }).to.deep.equal({
        surface,
        name: 'NotFoundError',
        code: 'model_not_found',
      });
    }
  });

  it("quotes each vendor's own error body", async () => {
    for (const vendor of [
      'cerebras',
      'cloudflare',
      'databricks',
      'deepinfra',
      'hugging-face',
      'mistral',
      'novita',
      'nvidia-nim',
      'ollama',
      'qwen',
      'together',
      'xai',
    ]) {
      const error = await failureOf(gateway().client.chat.completions.create({ model: `${vendor}/unfit`, messages }));
      expect((error.error as { message: string }).message, vendor).to.equal('this model does not take that');
    }
  });
});
