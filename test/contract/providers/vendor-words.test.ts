import { expect } from 'chai';
import { CHAT, chatReply, replyJson, type SentWire, sentBy, startHost, stubUpstream } from '../../kit/index.ts';
import { moduleOf, PROVIDERS } from './support.ts';

const NAMES = PROVIDERS.map(({ name }) => name)
  .filter((name) => name !== 'echo')
  .toSorted();

/** Models that speak for a provider whose wires or tools differ by model. */
const MODELS: Readonly<Record<string, string>> = {
  ai21: 'jamba-mini-1.7',
  anthropic: 'claude-sonnet-4-5',
  bedrock: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
  gemini: 'gemini-2.5-flash',
  replicate: 'meta/meta-llama-3-8b-instruct',
};

const VARIABLES: Readonly<Record<string, Record<string, string>>> = {
  'vertex-ai': { VERTEX_AI_REGION: 'us-central1', VERTEX_AI_API_KEY: 'key' },
  bedrock: { AWS_SECRET_ACCESS_KEY: 'secret' },
};

const sent = (name: string, more: object, model = MODELS[name] ?? 'm'): Promise<SentWire> =>
  sentBy(
    moduleOf(name),
    'chat',
    { model, messages: [{ role: 'user', content: 'hi' }], ...more },
    { variables: VARIABLES[name] ?? {} },
  );

/**
 * Vendors that document turns of the role `developer`; for the others they are the system's. Sources: OpenAI and Azure
 * OpenAI API references; groq-sdk 1.6.0, ChatCompletionSystemMessageParam; @openrouter/sdk 1.3.19, ChatDeveloperMessage;
 * 2026-11-22. Cerebras knows them for one family of models alone, as another word for the system.
 */
const KNOW_DEVELOPERS = new Set(['azure-openai', 'groq', 'openai', 'openrouter']);

describe('turns of the role developer', () => {
  for (const name of NAMES) {
    it(`${KNOW_DEVELOPERS.has(name) ? 'stay' : "are the system's"} at ${name}`, async () => {
      const { body } = await sent(name, {
        messages: [
          { role: 'developer', content: 'rules to keep' },
          { role: 'user', content: 'hi' },
        ],
      });
      const text = JSON.stringify(body);
      expect(text).to.include('rules to keep');
      if (name === 'replicate') return; // one text, in which every turn begins with its role
      expect(text.includes('developer'), text).to.equal(KNOW_DEVELOPERS.has(name));
    });
  }
});

const PLACE = {
  type: 'approximate',
  approximate: { city: 'Brest', country: 'FR', region: 'Bretagne', timezone: 'Europe/Paris' },
};
const SEARCH = { search_context_size: 'low', user_location: PLACE };
const FUNCTION = { type: 'function', function: { name: 'f', parameters: {} } };

describe('a search of the web', () => {
  /** What it becomes, beside the fields of the request. Vendors without such a field are sent nothing, and the client's answer names the field as ignored. */
  const WORDS: Readonly<
    Record<
      string,
      { readonly model?: string; readonly bare: object; readonly whole: object; readonly bounded?: boolean }
    >
  > = {
    openai: { bare: { web_search_options: {} }, whole: { web_search_options: SEARCH } },
    openrouter: {
      bare: { tools: [{ type: 'openrouter:web_search' }] },
      whole: {
        tools: [
          {
            type: 'openrouter:web_search',
            parameters: { search_context_size: 'low', user_location: { type: 'approximate', ...PLACE.approximate } },
          },
        ],
      },
    },
    perplexity: {
      bare: { web_search_options: {} },
      whole: {
        web_search_options: {
          search_context_size: 'low',
          user_location: { city: 'Brest', country: 'FR', region: 'Bretagne' },
        },
      },
      bounded: true,
    },
    mistral: { bare: { tools: [{ type: 'web_search' }] }, whole: { tools: [{ type: 'web_search' }] }, bounded: true },
    qwen: { bare: { enable_search: true }, whole: { enable_search: true }, bounded: true },
    'vertex-ai': { bare: { web_search_options: {} }, whole: { web_search_options: {} }, bounded: true },
    groq: { model: 'groq/compound', bare: {}, whole: { search_settings: { country: 'france' } }, bounded: true },
  };

  for (const [name, { model, bare, whole, bounded = false }] of Object.entries(WORDS)) {
    it(`is said in the words of ${name}, with the place where they have one`, async () => {
      const plain = await sent(name, {}, model);
      for (const [options, expected, isBounded] of [
        [{}, bare, false],
        [SEARCH, whole, bounded],
      ] as const) {
        const wire = await sent(name, { web_search_options: options }, model);
        expect([wire.body, wire.ignored, wire.bounded], JSON.stringify(options)).to.deep.equal([
          { ...plain.body, ...expected },
          [],
          isBounded ? ['web_search_options'] : [],
        ]);
      }
      expect((await sent(name, { web_search_options: null }, model)).body, 'null').to.satisfy(
        (body: object) => name === 'openai' || name === 'perplexity' || !('web_search_options' in body),
      );
    });
  }

  it('is a tool of some models of groq, and no wish of others', async () => {
    expect(
      (await sent('groq', { web_search_options: {}, tools: [FUNCTION] }, 'openai/gpt-oss-120b')).body.tools,
    ).to.deep.equal([FUNCTION, { type: 'browser_search' }]);
    const { body, ignored } = await sent('groq', { web_search_options: {} }, 'llama-3.1-8b-instant');
    expect([body, ignored]).to.deep.equal([
      (await sent('groq', {}, 'llama-3.1-8b-instant')).body,
      ['web_search_options'],
    ]);
    expect(
      (
        await sent(
          'groq',
          {
            web_search_options: { user_location: { type: 'approximate', approximate: { country: 'Germany' } } },
            search_settings: { include_domains: ['a.example'] },
          },
          'groq/compound-mini',
        )
      ).body.search_settings,
    ).to.deep.equal({ country: 'Germany', include_domains: ['a.example'] });
  });

  it('goes beside the tools of the client', async () => {
    for (const [name, tool] of [
      ['openrouter', { type: 'openrouter:web_search' }],
      ['mistral', { type: 'web_search' }],
    ] as const) {
      expect((await sent(name, { web_search_options: {}, tools: [FUNCTION] })).body.tools, name)
        .to.have.length(2)
        .and.to.deep.include(tool);
    }
  });

  it('is not asked for by a value that is not an object', async () => {
    expect((await sent('openrouter', { web_search_options: 'yes' })).ignored).to.deep.equal(['web_search_options']);
  });

  it('is sent as it is to a server of any kind', async () => {
    expect((await sent('openai-compatible', { web_search_options: SEARCH })).body.web_search_options).to.deep.equal(
      SEARCH,
    );
  });

  const others = new Set(['anthropic', 'bedrock', 'gemini', 'openai-compatible']);
  for (const name of NAMES.filter((each) => !(each in WORDS) && !others.has(each))) {
    it(`is left out at ${name}, and named`, async () => {
      const { body, ignored } = await sent(name, { web_search_options: SEARCH });
      expect([body, ignored]).to.deep.equal([(await sent(name, {})).body, ['web_search_options']]);
    });
  }
});

describe('a refusal among the parts of an earlier turn', () => {
  /** Vendors that document the part; for the others it is the text that it holds. Source: OpenAI API reference, "Chat", 2026-11-22. */
  const KNOW_REFUSALS = new Set(['azure-openai', 'openai']);
  const parts = [
    { type: 'text', text: 'Well, ' },
    { type: 'refusal', refusal: 'I cannot help with that.' },
  ];
  const messages = [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: parts, refusal: null },
    { role: 'user', content: 'why?' },
  ];

  for (const name of NAMES) {
    it(`is ${KNOW_REFUSALS.has(name) ? 'a refusal' : 'the text that it holds'} at ${name}`, async () => {
      const text = JSON.stringify(
        (await sent(name, { messages })).body.messages ?? (await sent(name, { messages })).body,
      );
      expect(text).to.include('I cannot help with that.');
      expect(text.includes('"type":"refusal"'), text).to.equal(KNOW_REFUSALS.has(name));
    });
  }

  it('is taken from clients', async () => {
    const upstream = await stubUpstream((_request, response) => replyJson(response, 200, chatReply('x')));
    const host = await startHost({ targets: [upstream.target('a')] });
    expect((await host.post(CHAT, { model: 'm', messages })).status).to.equal(200);
    expect(upstream.seen[0]?.json()['messages'])
      .to.have.nested.property('[1].content')
      .that.deep.equals([
        { type: 'text', text: 'Well, ' },
        { type: 'text', text: 'I cannot help with that.' },
      ]);
  });
});
