import { expect } from 'chai';
import perplexity from '../../providers/perplexity/index.ts';
import { answeredBy, rootOf } from '../kit/index.ts';
import { CHAT, itForwardsChat, itServes } from './support.ts';

describe('perplexity', () => {
  itServes(perplexity, 'https://api.perplexity.ai', ['chat'], { passthrough: true, responses: true });
  itForwardsChat(perplexity);

  it('keeps a bare host bare, and any path as it is', async () => {
    for (const [address, root] of [['http://h:1/', 'http://h:1'], ['http://h/v2', 'http://h/v2']] as const) {
      expect(await rootOf(perplexity, { PERPLEXITY_BASE_URL: address })).to.equal(root);
    }
  });

  it('hands what the search found on as metadata', async () => {
    const found = { citations: ['https://a.example'], search_results: [{ title: 't' }], images: [], related_questions: ['q'] };
    const reply = { id: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'c' }, finish_reason: 'stop' }] };
    expect(await answeredBy(perplexity, 'chat', CHAT, { ...reply, ...found })).to.deep.equal({ ...reply, provider_metadata: found });
    expect(await answeredBy(perplexity, 'chat', CHAT, { ...reply, citations: null })).to.not.have.property('provider_metadata');
  });
});
