import { expect } from 'chai';
import deepseek from '../../providers/deepseek/index.ts';
import { sentBy } from '../kit/index.ts';
import { CHAT, FORWARDED, itForwardsChat, itServes } from './support.ts';

describe('deepseek', () => {
  itServes(deepseek, 'https://api.deepseek.com/v1', ['chat'], FORWARDED);
  itForwardsChat(deepseek);

  it('sends the user as user_id, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const { body } = await sentBy(deepseek, 'chat', { ...CHAT, user: 'u' }, { stream });
      expect(body).to.include({ user_id: 'u' }).and.not.have.property('user');
    }
  });

  it('takes penalties for unsupported', () => {
    expect(deepseek.params).to.deep.equal({ presence_penalty: 'unsupported', frequency_penalty: 'unsupported' });
  });
});
