import { anthropic, bedrockClaude } from './anthropic.ts';
import type { Teller } from './answer.ts';
import { cohere } from './cohere.ts';
import { common } from './common.ts';
import { converse } from './converse.ts';
import { gemini } from './gemini.ts';

/** How each side's vendor sends answers. Sources: the vendors' API references, 2026-11-22. */
export const TELLERS: Readonly<Record<string, Teller>> = {
  anthropic,
  'anthropic at vertex': anthropic,
  'bedrock claude': bedrockClaude,
  'bedrock converse': converse,
  'gemini 2.5': gemini,
  cohere,
  mistral: common({
    thoughts: 'chunks',
    wholeCalls: 'numbered',
    usage: 'finish',
    cached: 'none',
    never: ['filter'],
    finishes: { length: 'model_length' },
  }),
  openai: common({ usage: 'apart', never: ['thought'] }),
  deepseek: common({ cached: 'prompt_cache_hit_tokens', usage: 'finish' }),
  groq: common({ thoughts: 'reasoning', usage: 'x_groq', wholeCalls: 'numbered' }),
  together: common({ thoughts: 'reasoning', usage: 'finish' }),
  xai: common({ countsApart: true, wholeCalls: 'unnumbered', usage: 'apart' }),
  qwen: common({ usage: 'apart' }),
};
