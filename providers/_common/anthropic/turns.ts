import { addAll, type Fields } from '../fields.ts';
import { withoutSystemTexts } from './system-tags.ts';

export interface Turn {
  readonly role: string;
  content: string | Fields[];
  /** Came from one message of the role, not from a tool's result. */
  readonly isSpoken: boolean;
}

/** Results of parallel calls share one turn. */
export function addResult(turns: Turn[], block: Fields): void {
  const last = turns.at(-1);
  if (last?.role === 'user' && Array.isArray(last.content)) last.content.push(block);
  else turns.push({ role: 'user', content: [block], isSpoken: false });
}

/** Turns of one role that follow each other become one; a turn without content is left out: the vendor refuses it. */
export function addTurn(turns: Turn[], turn: Turn): void {
  if (turn.content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role !== turn.role) {
    turns.push(turn);
    return;
  }
  const blocks = blocksOf(last.content);
  addAll(blocks, blocksOf(turn.content));
  last.content = blocks;
}

const blocksOf = (content: string | Fields[]): Fields[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

/** As the body holds them. White space that ends an answer to be continued is refused. Source: platform.claude.com, "Prefill Claude's response", 2026-11-22. */
export function trimmedEnd(turns: readonly Turn[]): Fields[] {
  return turns.map(({ role, content }, index) => ({
    role,
    content: role === 'assistant' && index === turns.length - 1 ? withoutSpace(content) : content,
  }));
}

function withoutSpace(content: string | Fields[]): string | Fields[] {
  if (typeof content === 'string') return content.trimEnd();
  const last = content.at(-1);
  return last?.['type'] === 'text'
    ? [...content.slice(0, -1), { ...last, text: String(last['text']).trimEnd() }]
    : content;
}

/**
 * Whether the assistant's last turn begins without thinking, where it is to be gone on with: the caller has begun the
 * answer, or nothing but results follows, and what the system says behind them. Source: platform.claude.com, "Extended
 * thinking", 2026-11-21.
 */
export function lacksThinking(turns: readonly Turn[]): boolean {
  const spoken = turns.filter(({ role }) => role !== 'system');
  const last = spoken.at(-1);
  const caller = last?.role === 'assistant' ? last : spoken.at(-2);
  const isOpen =
    last === caller ||
    (Array.isArray(last?.content) && withoutSystemTexts(last.content).every(({ type }) => type === 'tool_result'));
  if (caller?.role !== 'assistant' || !isOpen) return false;
  const [first] = caller.content;
  return typeof first !== 'object' || !String(first['type']).endsWith('thinking');
}
