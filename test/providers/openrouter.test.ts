import { expect } from 'chai';
import openrouter from '../../providers/openrouter/index.ts';
import { sentBy } from '../kit/index.ts';
import { EMBED, FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('openrouter', () => {
  itServes(openrouter, 'https://openrouter.ai/api/v1', ['chat', 'embeddings'], { ...FORWARDED, anyModel: true });
  itForwardsChat(openrouter);
  itForwardsEmbeddings(openrouter);

  it('asks for vectors as base64 when the client does, which the vendor documents', async () => {
    for (const format of ['base64', 'float'])
      expect(
        (await sentBy(openrouter, 'embeddings', { ...EMBED, encoding_format: format })).body.encoding_format,
      ).to.equal(format);
  });
});
