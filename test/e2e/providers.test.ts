import { expect } from 'chai';
import { BadRequestError, type OpenAI } from 'openai';
import { MODULES } from '../../builtins/manifest.ts';
import type { ProviderModule } from '../../host/contract/index.ts';
import { isHeld } from '../providers/places.ts';
import { NAMES, withVendors } from './support/vendor-gateway.ts';
import { heard, THOUGHTS, USAGE } from './support/vendors/chat.ts';
import type { Fields } from './support/vendors/dialect.ts';
import { vectorOf } from './support/vendors/embeddings.ts';
import { VENDORS } from './support/vendors/vendors.ts';

const messages = [{ role: 'user' as const, content: 'when does the harbour open?' }];

/** What clients commonly set and every vendor can express, if not by these names. */
const SETTINGS = {
  temperature: 0.5,
  top_p: 0.9,
  seed: 7,
  max_tokens: 50,
  stop: ['\n'],
  user: 'harbour-master',
  parallel_tool_calls: false,
};

/** What vendors answer with 400 or 422, in the order of `GET /v1/capabilities` (docs/providers.md#fields-of-chat). */
const UNSUPPORTED: Readonly<Record<string, object>> = {
  groq: { logprobs: true, top_logprobs: 2, logit_bias: { 50256: -100 } },
  mistral: { logprobs: true, top_logprobs: 2, user: 'harbour-master', logit_bias: { 50256: -100 } },
};

/** Those of these vendors that the tests have. */
const shipped = (...names: readonly string[]): readonly string[] => names.filter((name) => NAMES.includes(name));

/** What one vendor's answers cite. */
const SOURCE = {
  type: 'url_citation',
  url_citation: {
    start_index: 0,
    end_index: 0,
    url: 'https://tides.example/brest',
    title: 'https://tides.example/brest',
  },
};

describe('the openai client with every provider', function suite() {
  const gateway = withVendors();
  const sent = (): Fields => gateway().vendors.visits.at(-1)?.body ?? {};
  const settingsFor = (name: string): object => (name === 'mistral' ? { ...SETTINGS, user: undefined } : SETTINGS);

  for (const name of NAMES) {
    const model = `${name}/chat`;

    it(`chats at ${name}`, async () => {
      const { data, response } = await gateway()
        .client.chat.completions.create({ model, messages, ...settingsFor(name) })
        .withResponse();
      expect(data).to.deep.include({ object: 'chat.completion', model, provider: name, usage: USAGE });
      const found = name === 'perplexity' && { annotations: [SOURCE] };
      expect(data.choices).to.deep.equal([
        {
          index: 0,
          message: { role: 'assistant', content: heard(name, 'when does the harbour open?'), ...found },
          finish_reason: 'stop',
        },
      ]);
      expect(response.headers.get('x-gateway-model')).to.equal(VENDORS[name]?.surfaces.chat.model);
      expect(sent()).to.not.have.property('stream_options');
    });

    it(`streams at ${name}`, async () => {
      const chunks = await Array.fromAsync(
        await gateway().client.chat.completions.create({ model, messages, stream: true, ...settingsFor(name) }),
      );
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).to.equal(
        heard(name, 'when does the harbour open?'),
      );
      expect(chunks.filter(({ choices }) => choices[0]?.delta.content).length, 'pieces').to.be.greaterThan(3);
      expect(chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.role ?? []))).to.deep.equal([
        'assistant',
      ]);
      expect(
        chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? [])),
      ).to.deep.equal(['stop']);
      expect(chunks.flatMap(({ usage }) => usage ?? [])).to.deep.equal([USAGE]);
      for (const chunk of chunks)
        expect(chunk).to.include({ object: 'chat.completion.chunk', model, id: 'chatcmpl-e2e' });
    });

    if (!VENDORS[name]?.surfaces.embeddings) continue;
    it(`embeds at ${name}`, async () => {
      const more = name === 'nvidia-nim' ? { input_type: 'query' } : {};
      const body = {
        model: `${name}/embeddings`,
        input: ['tide', 'a strong wind'],
        ...more,
      } as OpenAI.EmbeddingCreateParams;
      const { data, model: answered, usage } = await gateway().client.embeddings.create(body);
      expect(data.map(({ index, embedding }) => [index, embedding])).to.deep.equal([
        [0, vectorOf('tide')],
        [1, vectorOf('a strong wind')],
      ]);
      expect(answered).to.equal(`${name}/embeddings`);
      expect(usage).to.include({ prompt_tokens: name === 'hugging-face' ? 0 : 5 });
    });
  }

  it("reaches every vendor's field by the vendor's name", async () => {
    const chat = async (name: string, more: object): Promise<Fields> => {
      await gateway().client.chat.completions.create({ model: `${name}/chat`, messages, ...more });
      return sent();
    };
    expect(await chat('openai', { max_tokens: 50 }))
      .to.include({ max_completion_tokens: 50 })
      .and.not.have.property('max_tokens');
    expect(await chat('groq', { max_tokens: 50 }))
      .to.include({ max_completion_tokens: 50 })
      .and.not.have.property('max_tokens');
    expect(await chat('mistral', { seed: 7, max_completion_tokens: 50 })).to.include({
      random_seed: 7,
      max_tokens: 50,
    });
    expect(await chat('deepseek', { user: 'harbour-master' }))
      .to.include({ user_id: 'harbour-master' })
      .and.not.have.property('user');
    expect(await chat('together', { logprobs: true, top_logprobs: 3 })).to.include({ logprobs: 3 });
    expect(await chat('together', { logprobs: true })).to.include({ logprobs: 1 });
    expect(await chat('together', { logprobs: false })).to.not.have.property('logprobs');
    expect(await chat('xai', { logprobs: false }), 'logprobs that were not asked for').to.not.have.property('logprobs');
  });

  it('hears what a search found', async () => {
    const reply = await gateway().client.chat.completions.create({ model: 'perplexity/chat', messages });
    expect(reply).to.deep.include({ provider_metadata: { citations: ['https://tides.example/brest'] } });
    expect(reply.choices[0]?.message.annotations).to.deep.equal([SOURCE]);
    expect(
      (await gateway().client.chat.completions.stream({ model: 'perplexity/chat', messages }).finalMessage())
        .annotations,
    ).to.deep.equal([SOURCE]);
  });

  for (const name of shipped('openai', 'groq', 'mistral', 'together')) {
    it(`may name who speaks at ${name}`, async () => {
      await gateway().client.chat.completions.create({
        model: `${name}/chat`,
        messages: [
          { role: 'system', content: 'be brief', name: 'captain' },
          { ...messages[0]!, name: 'mate' },
        ],
      });
      expect(sent()['messages']).to.have.length(2);
    });
  }

  for (const name of shipped('cerebras', 'deepinfra', 'deepseek', 'groq', 'moonshot', 'ollama', 'openrouter')) {
    it(`may send the thoughts back to ${name} on the next turn, as they came`, async () => {
      const { completions } = gateway().client.chat;
      const ask = { role: 'user' as const, content: 'think of a number' };
      const {
        choices: [choice],
      } = await completions.create({ model: `${name}/chat`, messages: [ask] });
      expect(choice?.message).to.include({ reasoning_content: THOUGHTS });
      const {
        choices: [next],
      } = await completions.create({ model: `${name}/chat`, messages: [ask, choice!.message, ...messages] });
      expect(next?.message.content).to.equal(heard(name, 'when does the harbour open?'));
      const streamed = await completions
        .stream({ model: `${name}/chat`, messages: [ask, choice!.message, ...messages] })
        .finalContent();
      expect(streamed).to.equal(next?.message.content);
    });
  }

  it('names what groq does not know', async () => {
    const error = await gateway()
      .client.chat.completions.create({ model: 'groq/chat', messages, ...UNSUPPORTED['groq'] })
      .then(
        () => undefined,
        (reason: unknown) => reason,
      );
    expect(error, 'forwarded unless the configuration says otherwise, and refused').to.be.instanceOf(BadRequestError);
    expect((error as BadRequestError).headers.get('x-gateway-ignored-params')).to.equal(
      'logprobs, top_logprobs, logit_bias',
    );
  });

  it('names what mistral does not know, and leaves it out: its schema is closed', async () => {
    const { data, response } = await gateway()
      .client.chat.completions.create({ model: 'mistral/chat', messages, ...UNSUPPORTED['mistral'], store: true })
      .withResponse();
    expect(data.choices[0]?.message.content).to.equal(heard('mistral', 'when does the harbour open?'));
    expect(response.headers.get('x-gateway-ignored-params')).to.equal(
      'logprobs, top_logprobs, user, logit_bias, store',
    );
  });
});

describe('the openai client with providers that are spared what they do not know', function suite() {
  const gateway = withVendors({ config: { compatibility: { on_unsupported_param: 'drop' } } });

  for (const [name, more] of Object.entries(UNSUPPORTED)) {
    it(`is answered by ${name}, whole and streamed`, async () => {
      const { completions } = gateway().client.chat;
      const ask = { model: `${name}/chat`, messages, ...more };
      expect((await completions.create(ask)).choices[0]?.message.content).to.equal(
        heard(name, 'when does the harbour open?'),
      );
      expect(await completions.stream(ask).finalContent()).to.equal(heard(name, 'when does the harbour open?'));
      expect(gateway().vendors.visits).to.have.length(2);
    });
  }
});

describe('the vendors of these tests', () => {
  it('are those of every provider, with every surface that can be led to them', () => {
    const modules = MODULES.filter(
      (module) =>
        module.kind === 'provider' &&
        module.wire === 'common' &&
        !module.offline &&
        !module.connection.onlyDeclared && // its servers are tried in test/instances
        isHeld(module.name, 'test/e2e/support/vendors/vendors.ts'),
    ) as readonly ProviderModule[];
    const served = (surfaces: object): string[] => Object.keys(surfaces).toSorted();
    const reachable = ({ name, translators }: ProviderModule): string[] =>
      served(translators).filter((surface) => name !== 'fireworks' || !surface.startsWith('audio.')); // at fixed addresses
    expect(NAMES).to.have.members(modules.map(({ name }) => name));
    for (const module of modules)
      expect(
        served(VENDORS[module.name]?.surfaces ?? {}),
        `${module.name} in test/e2e/support/vendors/vendors.ts`,
      ).to.deep.equal(reachable(module));
  });
});
