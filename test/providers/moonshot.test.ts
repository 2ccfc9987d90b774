import moonshot from '../../providers/moonshot/index.ts';
import { FORWARDED, itForwardsChat, itServes } from './support.ts';

describe('moonshot', () => {
  itServes(moonshot, 'https://api.moonshot.ai/v1', ['chat'], FORWARDED);
  itForwardsChat(moonshot);
});
