import { type ChatMessage, type ContentPart, type Fields, isFields } from '../../../host/contract/index.ts';
import { Notes } from '../notes.ts';
import { marked } from './mark.ts';

/**
 * Claude Code puts this line first. Parts of it change with each request: sent to another vendor, it would end every cache of a prefix.
 * See docs/reference/ingress.md#instructions.
 */
const BILLING = 'x-anthropic-billing-header:';

/** Instructions as one message; `undefined` when there are none. */
export function systemMessage(system: unknown, at: string, notes: Notes): ChatMessage | undefined {
  if (system === undefined || system === null) return undefined;
  if (typeof system === 'string') {
    const content = withoutBilling(system);
    return content === '' ? undefined : { role: 'system', content };
  }
  if (!Array.isArray(system)) {
    notes.refuse(`${at} must be a string or a list of text blocks`);
    return undefined;
  }
  const parts: ContentPart[] = [];
  system.forEach((block: unknown, place) => {
    for (const part of partsOf(block, `${at}[${place}]`, notes, parts)) parts.push(part);
  });
  return parts.length === 0 ? undefined : { role: 'system', content: parts };
}

function withoutBilling(text: string): string {
  if (!text.startsWith(BILLING)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end + 1);
}

function partsOf(block: unknown, at: string, notes: Notes, before: ContentPart[]): ContentPart[] {
  if (!isFields(block) || block['type'] !== 'text' || typeof block['text'] !== 'string') {
    notes.refuse(`${at} must be a text block`);
    return [];
  }
  const { text, citations } = block as typeof block & { readonly text: string };
  if (Array.isArray(citations) && citations.length > 0) notes.lose(`${at}.citations`);
  if (text.startsWith(BILLING)) return [];
  return marked(text === '' ? [] : [{ type: 'text', text }], { block, at, before }, notes);
}

/** Where the roles of system messages stand that are late: behind the first turn, and with a text that is read. */
export function latePaths({ messages }: Readonly<Fields>): string[] {
  const turns: readonly unknown[] = Array.isArray(messages) ? messages : [];
  const start = turns.findIndex(isTurn);
  return turns.flatMap((turn, at) =>
    start >= 0 && at > start && isFields(turn) && turn['role'] === 'system' && isRead(turn['content'])
      ? [`messages[${at}].role`]
      : [],
  );
}

const isRead = (content: unknown): boolean => systemMessage(content, '', new Notes()) !== undefined;

function isTurn(turn: unknown): boolean {
  if (!isFields(turn) || turn['role'] === 'system') return false;
  const { content } = turn;
  if (!Array.isArray(content)) return content !== '';
  return content.some((block) => !isFields(block) || block['type'] !== 'text' || block['text'] !== '');
}
