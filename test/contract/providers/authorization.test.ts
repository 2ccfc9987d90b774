import { expect } from 'chai';
import {
  canonicalChat,
  CHAT,
  connect,
  gatewayOf,
  minimal,
  sendText,
  translate,
  valueOf,
  variablesOf,
} from '../../kit/index.ts';
import { FACTS } from './facts.ts';
import { factsOf, moduleOf } from './support.ts';

/** Names a routed call may carry; everything else would be the client's or another provider's. */
const ALLOWED = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'authorization',
  'accept',
  'accept-encoding',
  'user-agent',
  'traceparent',
  'transfer-encoding',
]);

const OTHERS = Object.fromEntries(
  FACTS.flatMap(({ required, address }) =>
    required.filter((variable) => variable !== address).map((variable) => [variable, valueOf(variable)]),
  ),
);

describe('provider credentials', () => {
  for (const facts of FACTS) {
    it(`of ${facts.name} leave alone: no client header, no other provider's key`, async () => {
      const { host, upstream } = await gatewayOf(
        facts,
        (_request, response) => sendText(response, 200, 'application/json', facts.golden('reply.json')),
        { variables: OTHERS },
      );
      await host.post(CHAT, canonicalChat(facts), {
        cookie: 'session=1',
        'x-api-key': 'client-key',
        'x-goog-api-key': 'client-key',
        referer: 'https://client.example',
        'x-title': 'client',
        'x-forwarded-for': '192.0.2.1',
      });
      const [seen] = upstream.seen;
      expect(upstream.seen).to.have.length(1);
      expect(
        Object.keys(seen!.headers).filter((name) => !ALLOWED.has(name)),
        'headers beyond the allowed',
      ).to.deep.equal([]);
      expect(seen!.headers.authorization).to.equal(facts.credential && `Bearer ${valueOf(facts.credential)}`);
      expect(seen!.headers['content-type']).to.match(/^application\/json/);
      const wire = JSON.stringify(seen!.headers) + seen!.url + seen!.text;
      expect(
        Object.entries(OTHERS).filter(
          ([variable, value]) =>
            variable !== facts.credential && variable !== 'CLOUDFLARE_ACCOUNT_ID' && wire.includes(value),
        ),
      ).to.deep.equal([]);
    });
  }

  it('in an address are sent as Basic where the provider has no header of its own, and nowhere else', async () => {
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    for (const facts of FACTS) {
      const provider = await connect(moduleOf(facts.name), variablesOf(facts, 'http://us%20er:p@h:9911'));
      const { sent } = await translate(provider, 'chat', minimal('chat', facts.surfaces.chat.model) as never);
      expect(sent.headers['authorization'], facts.name).to.equal(
        facts.credential === undefined ? basic('us er:p') : `Bearer ${valueOf(facts.credential)}`,
      );
      expect(sent.url, facts.name).to.not.include('@h');
    }
  });

  it('of ollama-cloud are trimmed', async () => {
    const provider = await connect(moduleOf('ollama-cloud'), {
      ...variablesOf(factsOf('ollama-cloud'), 'http://h'),
      OLLAMA_API_KEY: '  spaced-key \n',
    });
    const { sent } = await translate(provider, 'chat', minimal('chat', 'm') as never);
    expect(sent.headers['authorization']).to.equal('Bearer spaced-key');
  });

  it('are not invented: ollama without userinfo sends none', async () => {
    const provider = await connect(moduleOf('ollama'), variablesOf(factsOf('ollama'), 'http://h'));
    for (const surface of ['chat', 'embeddings'] as const)
      expect((await translate(provider, surface, minimal(surface, 'm') as never)).sent.headers).to.not.have.property(
        'authorization',
      );
  });
});

describe('provider model lists', () => {
  const listed = async (name: string, more: Record<string, string>): Promise<readonly string[]> =>
    (await connect(moduleOf(name), { ...variablesOf(factsOf(name), 'http://h'), ...more })).configuredModels;

  it('of ollama and ollama-cloud have defaults, are split at commas, trimmed, and lose what is empty', async () => {
    expect(await listed('ollama', {})).to.deep.equal(['llama3.2']);
    expect(await listed('ollama', { GW_OLLAMA_MODELS: ' a, ,b:7b ,' })).to.deep.equal(['a', 'b:7b']);
    expect(await listed('ollama-cloud', {})).to.deep.equal([
      'gpt-oss:120b',
      'gpt-oss:20b',
      'qwen3-coder:480b',
      'deepseek-v3.1:671b',
    ]);
    expect(await listed('ollama-cloud', { OLLAMA_CLOUD_MODELS: 'x , y' })).to.deep.equal(['x', 'y']);
  });

  it('of ollama: the own variable wins, and a folder in the shared one does not count as a list', async () => {
    expect(await listed('ollama', { OLLAMA_MODELS: 'a,b' })).to.deep.equal(['a', 'b']);
    expect(await listed('ollama', { OLLAMA_MODELS: 'a', GW_OLLAMA_MODELS: 'b' })).to.deep.equal(['b']);
    for (const id of ['gpt-oss:20b', 'library/mistral'])
      expect(await listed('ollama', { OLLAMA_MODELS: id })).to.deep.equal([id]);
    for (const folder of [
      '/usr/share/models',
      '~/models',
      './models',
      '../models',
      '.\\models',
      '..\\models',
      'C:\\models',
      'D:/models',
    ]) {
      expect(await listed('ollama', { OLLAMA_MODELS: folder }), folder).to.deep.equal(['llama3.2']);
    }
  });
});
