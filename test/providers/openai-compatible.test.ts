import openaiCompatible from '../../providers/openai-compatible/index.ts';
import { itForwardsChat, itServes } from './support.ts';

describe('openai-compatible', () => {
  itServes(openaiCompatible, 'https://api.openai-compatible.example/v1', ['chat'], {
    passthrough: true,
    responses: true,
  });
  itForwardsChat(openaiCompatible);
});
