import { expect } from 'chai';
import type { EmbeddingsRequest, ProviderModule } from '../../host/contract/index.ts';
import moonshot from '../../providers/moonshot/index.ts';
import novita from '../../providers/novita/index.ts';
import openrouter from '../../providers/openrouter/index.ts';
import qwen from '../../providers/qwen/index.ts';
import sambanova from '../../providers/sambanova/index.ts';
import { answeredBy, ask, rootOf, sentBy } from '../kit/index.ts';

/** Providers that only forward: their root, and what else they serve. Source: providers reference 1.1 and 1.5. */
const FORWARDERS: readonly (readonly [ProviderModule, string, object])[] = [
  [moonshot, 'https://api.moonshot.ai/v1', { batches: undefined, anyModel: undefined }],
  [novita, 'https://api.novita.ai/openai/v1', { batches: true, anyModel: undefined }],
  [openrouter, 'https://openrouter.ai/api/v1', { batches: undefined, anyModel: true }],
  [qwen, 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1', { batches: true, anyModel: undefined }],
  [sambanova, 'https://api.sambanova.ai/v1', { batches: undefined, anyModel: undefined }],
];

const CHAT = { ...ask('hi', { max_tokens: 5, temperature: 0.2, user: 'u', reasoning_effort: 'low' }), model: 'm' } as never;
const EMBED: EmbeddingsRequest = { model: 'm', input: ['a', 'b'], dimensions: 8, input_type: 'query', truncate: 'END' };

for (const [module, root, flags] of FORWARDERS) {
  describe(module.name, () => {
    it('has its root, lists its models, and takes forwarded requests', async () => {
      expect(await rootOf(module)).to.equal(root);
      expect(module).to.deep.include({ wire: 'common', passthrough: true, responses: true, params: {} });
      expect({ batches: module.batches, anyModel: module.anyModel }).to.deep.equal(flags);
      expect(module.discovery?.path).to.equal('/models');
    });

    it('sends chat as it came, streamed with usage', async () => {
      const whole = await sentBy(module, 'chat', CHAT);
      expect(whole.url).to.equal(`${root}/chat/completions`);
      expect(whole.body).to.deep.equal(CHAT);
      expect((await sentBy(module, 'chat', CHAT, { stream: true })).body).to.deep.equal({ ...(CHAT as object), stream: true, stream_options: { include_usage: true } });
    });

    if (module.translators.embeddings) {
      it('sends embeddings as they came, unknown fields included, and reads vectors', async () => {
        const { url, body, ignored } = await sentBy(module, 'embeddings', EMBED);
        expect([url, body, ignored]).to.deep.equal([`${root}/embeddings`, EMBED, []]);
        const reply = await answeredBy(module, 'embeddings', EMBED, { data: [{ embedding: [1, 2], index: 0 }, { embedding: [3, 4], index: 1 }], model: 'x', usage: { prompt_tokens: 4, total_tokens: 4 } });
        expect(reply.data.map(({ embedding }: { embedding: number[] }) => embedding)).to.deep.equal([[1, 2], [3, 4]]);
      });
    }
  });
}

describe('openrouter, embeddings', () => {
  it('ask for base64 when the client does, which the vendor documents', async () => {
    expect((await sentBy(openrouter, 'embeddings', { ...EMBED, encoding_format: 'base64' })).body.encoding_format).to.equal('base64');
    expect((await sentBy(qwen, 'embeddings', { ...EMBED, encoding_format: 'base64' })).body).to.not.have.property('encoding_format');
  });
});

describe('sambanova, audio', () => {
  it('is sent below the same root', async () => {
    const file = { filename: 'a.wav', bytes: 0, open: async function* open() {} };
    expect((await sentBy(sambanova, 'audio.translations', { model: 'm', file })).url).to.equal('https://api.sambanova.ai/v1/audio/translations');
  });
});
