import { expect } from 'chai';
import ollama from '../../providers/ollama/index.ts';
import { answeredBy, connected, refusedBy, rootOf, sentBy, unusableTo } from '../kit/index.ts';
import { CHAT, EMBED } from './support.ts';

const AT = { variables: { OLLAMA_HOST: 'http://h:11434' } };

describe('ollama', () => {
  it('takes the root of a server, with a scheme', async () => {
    for (const [host, root] of [
      ['http://h:11434/', 'http://h:11434'],
      ['http://h', 'http://h'],
      ['http://h/probe', 'http://h/probe'],
      ['http://h:1/v1', 'http://h:1'],
    ] as const) {
      expect(await rootOf(ollama, { OLLAMA_HOST: host })).to.equal(root);
    }
    for (const host of ['h:11434', '0.0.0.0', 'http://h?x=1'])
      expect(await rootOf(ollama, { OLLAMA_HOST: host }).catch((cause: unknown) => cause), host).to.be.instanceOf(
        Error,
      );
  });

  it('has no credential of its own; userinfo becomes Basic authorization', async () => {
    const { provider } = await connected(ollama, { OLLAMA_HOST: 'http://u:p@h' });
    expect([provider.root, provider.basicAuthorization]).to.deep.equal(['http://h', `Basic ${btoa('u:p')}`]);
    expect(await provider.authorize({ method: 'POST', url: '', headers: {}, body: undefined }, {})).to.deep.equal({});
  });

  it('sends chat and forwarded requests below /v1', async () => {
    const { url, body } = await sentBy(ollama, 'chat', CHAT, AT);
    expect([url, body]).to.deep.equal(['http://h:11434/v1/chat/completions', CHAT]);
    expect(ollama).to.include({ forwardPath: '/v1', passthrough: true, responses: true, anyModel: true });
    expect(ollama.connection.connectTimeoutMs).to.equal(5000);
  });

  it('sends embeddings its own way, and reports what it cannot take', async () => {
    const { url, body, ignored } = await sentBy(
      ollama,
      'embeddings',
      { ...EMBED, user: 'u', encoding_format: 'base64' },
      AT,
    );
    expect([url, body]).to.deep.equal(['http://h:11434/api/embed', { model: 'm', input: ['a', 'b'], dimensions: 8 }]);
    expect(ignored).to.deep.equal(['input_type', 'truncate', 'user']);
    expect((await refusedBy(ollama, 'embeddings', { model: 'm', input: [[1]] }, AT)).code).to.equal('invalid_request');
  });

  it('reads its vectors', async () => {
    expect(
      await answeredBy(ollama, 'embeddings', EMBED, { model: 'x', embeddings: [[1], [2]], prompt_eval_count: 3 }, {}),
    ).to.deep.equal({
      object: 'list',
      model: 'm',
      usage: { prompt_tokens: 3, total_tokens: 3 },
      data: [
        { object: 'embedding', embedding: [1], index: 0 },
        { object: 'embedding', embedding: [2], index: 1 },
      ],
    });
    expect(await unusableTo(ollama, 'embeddings', EMBED, { embeddings: [[1]] })).to.equal(
      'the answer does not hold 2 vectors',
    );
  });

  it('lists the models of the server', () => {
    expect(ollama.discovery?.path).to.equal('/api/tags');
    const models = [
      { name: ' llama3.2:latest ', modified_at: '2026-05-04T14:56:49.277302595-07:00' },
      { name: ' ', model: 'phi4' },
      { name: 'phi4' },
      { name: '' },
      { model: 'old', modified_at: 'never' },
    ];
    expect(ollama.discovery?.read({ models })).to.deep.equal([
      { id: 'llama3.2:latest', created: 1_777_931_809 },
      { id: 'phi4' },
      { id: 'old' },
    ]);
    for (const body of [null, {}, { models: 'x' }])
      expect(() => ollama.discovery?.read(body)).to.throw('no list of models');
  });
});

describe('ollama, configured models', () => {
  const configured = async (variables: Record<string, string>): Promise<[readonly string[], readonly string[]]> => {
    const { provider, warnings } = await connected(ollama, { OLLAMA_HOST: 'http://h', ...variables });
    return [provider.configuredModels, warnings];
  };
  const DEPRECATED = 'OLLAMA_MODELS is deprecated: list models in GW_OLLAMA_MODELS';
  const FOLDER = 'OLLAMA_MODELS is deprecated and left out, as it names a folder: list models in GW_OLLAMA_MODELS';

  it('are llama3.2 unless listed', async () => {
    expect(await configured({})).to.deep.equal([['llama3.2'], []]);
    expect(await configured({ GW_OLLAMA_MODELS: ' a:1 ,, library/b ' })).to.deep.equal([['a:1', 'library/b'], []]);
  });

  it('come from the old variable with a warning, and the new one beats it', async () => {
    expect(await configured({ OLLAMA_MODELS: 'gpt-oss:20b,library/mistral' })).to.deep.equal([
      ['gpt-oss:20b', 'library/mistral'],
      [DEPRECATED],
    ]);
    expect(await configured({ OLLAMA_MODELS: 'a', GW_OLLAMA_MODELS: 'b' })).to.deep.equal([['b'], [DEPRECATED]]);
  });

  it('never come from a folder', async () => {
    for (const folder of [
      '/var/ollama',
      '~/models',
      '~',
      './m',
      '../m',
      '.\\m',
      '..\\m',
      'C:\\m',
      'D:/m',
      ' /var/x ',
    ]) {
      expect(await configured({ OLLAMA_MODELS: folder }), folder).to.deep.equal([['llama3.2'], [FOLDER]]);
    }
    for (const list of ['/a,b', 'library/mistral', 'gpt-oss:20b'])
      expect((await configured({ OLLAMA_MODELS: list }))[1], list).to.deep.equal([DEPRECATED]);
  });
});
