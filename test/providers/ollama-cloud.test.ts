import { expect } from 'chai';
import ollamaCloud from '../../providers/ollama-cloud/index.ts';
import ollama from '../../providers/ollama/index.ts';
import { connected, failedReply, refusedBy, sentBy } from '../kit/index.ts';
import { EMBED, itForwardsChat, itServes } from './support.ts';

describe('ollama-cloud', () => {
  itServes(ollamaCloud, 'https://ollama.com/v1', ['chat'], { discovery: true });
  itForwardsChat(ollamaCloud);

  it('sends embeddings beside the compatible root', async () => {
    for (const [address, url] of [
      ['', 'https://ollama.com/api/embed'],
      ['http://h:1', 'http://h:1/api/embed'],
      ['http://h/probe', 'http://h/probe/api/embed'],
    ] as const) {
      const sent = await sentBy(ollamaCloud, 'embeddings', EMBED, { variables: { OLLAMA_CLOUD_BASE_URL: address } });
      expect([sent.url, sent.body]).to.deep.equal([url, { model: 'm', input: ['a', 'b'], dimensions: 8 }]);
    }
    expect((await refusedBy(ollamaCloud, 'embeddings', { model: 'm', input: [1] })).code).to.equal('invalid_request');
  });

  it('trims its key', async () => {
    const { provider } = await connected(ollamaCloud, { OLLAMA_API_KEY: ' k\n' });
    expect(
      await provider.authorize({ method: 'POST', url: '', headers: {}, body: undefined }, provider.credentials),
    ).to.deep.equal({ authorization: 'Bearer k' });
  });

  it('has models of its own unless listed, and the parameters of ollama', async () => {
    expect((await connected(ollamaCloud)).provider.configuredModels).to.deep.equal([
      'gpt-oss:120b',
      'gpt-oss:20b',
      'qwen3-coder:480b',
      'deepseek-v3.1:671b',
    ]);
    expect((await connected(ollamaCloud, { OLLAMA_CLOUD_MODELS: 'a, b' })).provider.configuredModels).to.deep.equal([
      'a',
      'b',
    ]);
    expect(ollamaCloud.params).to.deep.equal(ollama.params);
  });

  it('reads error objects that hold a type or a code alone', () => {
    const said = (body: unknown): unknown => ollamaCloud.toFault?.(failedReply(body));
    expect(said({ error: { message: ' m ', type: 't' } })).to.deep.equal({ message: 'm' });
    expect(said({ error: { message: '', type: 't', code: 'c' } })).to.deep.equal({ message: 't' });
    expect(said({ error: { code: 'c' } })).to.deep.equal({ message: 'c' });
    for (const body of [{ error: 'text' }, { error: {} }, { message: 'm' }])
      expect(said(body), JSON.stringify(body)).to.equal(undefined);
  });
});
