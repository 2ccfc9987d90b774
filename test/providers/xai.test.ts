import { expect } from 'chai';
import xai from '../../providers/xai/index.ts';
import { sentBy } from '../kit/index.ts';
import { FORWARDED, itForwardsChat, itServes } from './support.ts';

describe('xai', () => {
  itServes(xai, 'https://api.x.ai/v1', ['chat', 'images'], { ...FORWARDED, responses: 'native' });
  itForwardsChat(xai);

  it('leaves size, quality and style out of images, and says so', async () => {
    const { body, ignored } = await sentBy(xai, 'images', {
      model: 'm',
      prompt: 'p',
      n: 2,
      response_format: 'url',
      user: 'u',
      size: '1x1',
      quality: 'hd',
      style: 'vivid',
    });
    expect(body).to.deep.equal({ model: 'm', prompt: 'p', n: 2, response_format: 'url', user: 'u' });
    expect(ignored).to.deep.equal(['size', 'quality', 'style']);
  });
});
