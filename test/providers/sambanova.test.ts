import sambanova from '../../providers/sambanova/index.ts';
import { FORWARDED, itForwardsChat, itForwardsEmbeddings, itServes } from './support.ts';

describe('sambanova', () => {
  itServes(
    sambanova,
    'https://api.sambanova.ai/v1',
    ['chat', 'embeddings', 'audio.transcriptions', 'audio.translations'],
    FORWARDED,
  );
  itForwardsChat(sambanova);
  itForwardsEmbeddings(sambanova);
});
