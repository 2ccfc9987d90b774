import { expect } from 'chai';
import together from '../../providers/together/index.ts';
import { sentBy } from '../kit/index.ts';
import { CHAT, FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('together', () => {
  itServes(
    together,
    'https://api.together.ai/v1',
    ['chat', 'embeddings', 'images', 'rerank', 'audio.transcriptions', 'audio.translations', 'audio.speech'],
    FORWARDED,
  );
  itForwardsChat(together);
  itForwardsEmbeddings(together);

  it('sends logprobs as a count', async () => {
    const counted = async (fields: object): Promise<unknown[]> => {
      const { body } = await sentBy(together, 'chat', { ...CHAT, ...fields });
      return [body.logprobs, body.top_logprobs];
    };
    expect(await counted({ logprobs: true, top_logprobs: 4 })).to.deep.equal([4, undefined]);
    expect(await counted({ logprobs: true, top_logprobs: 0 })).to.deep.equal([0, undefined]);
    expect(await counted({ logprobs: true })).to.deep.equal([1, undefined]);
    for (const fields of [{ logprobs: false, top_logprobs: 2 }, { top_logprobs: 2 }, {}])
      expect(await counted(fields)).to.deep.equal([undefined, undefined]);
  });

  it('leaves quality and style out of images and speed out of speech, and says so', async () => {
    const image = await sentBy(together, 'images', {
      model: 'm',
      prompt: 'p',
      n: 2,
      size: '1x1',
      response_format: 'url',
      user: 'u',
      quality: 'hd',
      style: 'vivid',
      steps: 4,
    });
    expect(image.body).to.deep.equal({
      model: 'm',
      prompt: 'p',
      n: 2,
      size: '1x1',
      response_format: 'url',
      user: 'u',
      steps: 4,
    });
    expect(image.ignored).to.deep.equal(['quality', 'style']);
    const speech = await sentBy(together, 'audio.speech', { model: 'm', input: 'hi', voice: 'v', speed: 2 });
    expect(speech.body).to.deep.equal({ model: 'm', input: 'hi', voice: 'v', response_format: 'mp3' });
    expect(speech.ignored).to.deep.equal(['speed']);
  });

  it('lists models in a bare array', () => {
    expect(together.discovery?.read([{ id: 'a', created: 5, owned_by: 'x' }])).to.deep.equal([{ id: 'a', created: 5 }]);
  });
});
