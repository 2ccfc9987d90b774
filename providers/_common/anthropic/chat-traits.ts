import type { ChatTraits } from 'gw/contract';
import { isClaude } from './beside.ts';
import { FORMAT } from './reasoning.ts';

/** What chats in the Messages wire take. See docs/reference/ingress.md#what-is-lost, docs/reference/ingress.md#late-system-messages and docs/reference/ingress.md#reasoning-of-other-vendors. */
export const CLAUDE_CHATS: ChatTraits = Object.freeze<ChatTraits>({
  wire: 'native',
  history: { marks: ['tools', 'parts', 'messages', 'calls'], thoughts: [FORMAT] },
  longToolNames: true,
  refusesBlankTurns: true,
});

/** The traits of a cloud whose Claude models speak their own wire, and whose other models another. */
export const chatTraitsBeside =
  (others: ChatTraits) =>
  (model: string): ChatTraits =>
    isClaude(model) ? CLAUDE_CHATS : others;
