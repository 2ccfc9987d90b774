import { expect } from 'chai';
import mistral from '../../providers/mistral/index.ts';
import { answeredBy, sentBy, unusableTo } from '../kit/index.ts';
import { CHAT, EMBED, FORWARDED, itForwardsChatWithoutOptions, itServes } from './support.ts';

const SPEECH = { model: 'm', input: 'hi', voice: 'v' };

describe('mistral', () => {
  itServes(mistral, 'https://api.mistral.ai/v1', ['chat', 'embeddings', 'moderations', 'audio.transcriptions', 'audio.speech'], FORWARDED);
  itForwardsChatWithoutOptions(mistral);

  it('serves no translation', () => {
    expect(mistral.translators).to.not.have.property('audio.translations');
  });

  it('sends one ceiling, by its old name, and the seed by its own', async () => {
    const { body } = await sentBy(mistral, 'chat', { ...CHAT, max_completion_tokens: 7, seed: 3 });
    expect(body).to.include({ max_tokens: 7, random_seed: 3 }).and.not.have.any.keys('max_completion_tokens', 'seed');
  });

  it('sends no reasoning of earlier turns, which the closed schema refuses', async () => {
    const { body } = await sentBy(mistral, 'chat', { ...CHAT, messages: [{ role: 'assistant', content: 'a', reasoning_content: 'r', reasoning_details: [{}] }] });
    expect(body.messages).to.deep.equal([{ role: 'assistant', content: 'a' }]);
  });

  it('sends dimensions by its own name and no input type', async () => {
    const { body, ignored } = await sentBy(mistral, 'embeddings', { ...EMBED, encoding_format: 'base64' });
    expect(body).to.deep.equal({ model: 'm', input: ['a', 'b'], output_dimension: 8, truncate: 'END', encoding_format: 'base64' });
    expect(ignored).to.deep.equal(['input_type']);
  });

  it('derives what its moderation leaves out', async () => {
    const reply = await answeredBy(mistral, 'moderations', { model: 'm', input: ['a', 'b'] }, { results: [{ categories: { pii: false } }, { categories: { pii: true } }] });
    expect(reply.results.map(({ flagged }: { flagged: boolean }) => flagged)).to.deep.equal([false, true]);
  });
});

describe('mistral, speech', () => {
  it('names the voice its own way and has no speed', async () => {
    const { body, ignored } = await sentBy(mistral, 'audio.speech', { ...SPEECH, speed: 2 });
    expect(body).to.deep.equal({ model: 'm', input: 'hi', voice_id: 'v', response_format: 'mp3' });
    expect(ignored).to.deep.equal(['speed']);
  });

  it('is decoded, not relayed', async () => {
    expect(mistral.translators['audio.speech']?.relaysBytes).to.equal(false);
    const { body } = await answeredBy(mistral, 'audio.speech', SPEECH, { audio_data: Buffer.from('sound').toString('base64') });
    expect(Buffer.from(body).toString()).to.equal('sound');
    for (const reply of [{}, { audio_data: '' }, { audio_data: 7 }]) expect(await unusableTo(mistral, 'audio.speech', SPEECH, reply)).to.equal('the answer holds no audio');
  });
});
