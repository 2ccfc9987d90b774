import type { Fields } from '../fields.ts';
import { inTags } from './system-tags.ts';
import { addTurn, type Turn } from './turns.ts';

/**
 * Turns whose system messages stand where the vendor takes them: behind a turn of the user, last or in front of the assistant.
 * Any other one is a turn of the user. Source: GitHub can1357/oh-my-pi, "anthropic-mid-conversation-system.test.ts", 2026-11-26.
 */
export function withSystemInPlace(turns: readonly Turn[]): readonly Turn[] {
  if (!turns.some(({ role }) => role === 'system')) return turns;
  const placed: Turn[] = [];
  for (const [at, turn] of turns.entries()) {
    const after = turns[at + 1]?.role;
    const isInPlace =
      turn.role !== 'system' || (placed.at(-1)?.role === 'user' && (after === undefined || after === 'assistant'));
    if (isInPlace) addTurn(placed, turn);
    else addTurn(placed, { role: 'user', content: inTags(blocksIn(turn)), isSpoken: true });
  }
  return placed;
}

const blocksIn = ({ content }: Turn): readonly Fields[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;
