import { expect } from 'chai';
import fireworks from '../../providers/fireworks/index.ts';
import { refusedBy, sentBy } from '../kit/index.ts';
import { FILE, FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('fireworks', () => {
  itServes(fireworks, 'https://api.fireworks.ai/inference/v1', ['chat', 'embeddings'], FORWARDED);
  itForwardsChat(fireworks);
  itForwardsEmbeddings(fireworks);

  it('sends audio to the host of its model with the credential, whatever the root', async () => {
    for (const [model, host] of [
      ['whisper-v3', 'audio-prod'],
      ['whisper-v3-turbo', 'audio-turbo'],
    ] as const) {
      for (const [surface, task] of [
        ['audio.transcriptions', 'transcriptions'],
        ['audio.translations', 'translations'],
      ] as const) {
        const sent = await sentBy(
          fireworks,
          surface,
          { model, file: FILE },
          { variables: { FIREWORKS_BASE_URL: 'http://h:1/probe' } },
        );
        expect(sent).to.include({ url: `https://${host}.api.fireworks.ai/v1/audio/${task}`, withCredential: true });
      }
    }
  });

  it('refuses other audio models before any call', async () => {
    const error = await refusedBy(fireworks, 'audio.translations', { model: 'whisper-1', file: FILE });
    expect(error.code).to.equal('invalid_request');
    expect(error.message).to.equal(
      'model "whisper-1" transcribes nothing at fireworks, use whisper-v3 or whisper-v3-turbo',
    );
  });
});
