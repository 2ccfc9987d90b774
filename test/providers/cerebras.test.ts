import { expect } from 'chai';
import cerebras from '../../providers/cerebras/index.ts';
import { sentBy } from '../kit/index.ts';
import { CHAT, FORWARDED, itServes } from './support.ts';

describe('cerebras', () => {
  itServes(cerebras, 'https://api.cerebras.ai/v1', ['chat'], FORWARDED);

  it('sends one ceiling, by its new name, and invents none', async () => {
    const { max_tokens: _ceiling, ...rest } = CHAT;
    expect((await sentBy(cerebras, 'chat', CHAT)).body).to.deep.equal({ ...rest, max_completion_tokens: 5 });
    expect((await sentBy(cerebras, 'chat', { ...CHAT, max_completion_tokens: 7 })).body).to.deep.equal({
      ...rest,
      max_completion_tokens: 7,
    });
    expect((await sentBy(cerebras, 'chat', rest as never)).body).to.deep.equal(rest);
  });
});
