import { type Fields, isFields } from 'gw/common-wire';
import type { Traits } from '../models.ts';

/** What stands before it is kept, where a message, a part or a tool is marked so. Source: AWS, "Prompt caching", 2026-11-21. */
export function cachePoint(mark: Fields | undefined, { cachesTools }: Traits): Fields[] {
  if (!mark) return [];
  const { ttl } = mark;
  return [{ cachePoint: { type: 'default', ...(cachesTools && typeof ttl === 'string' && { ttl }) } }];
}

export const isPoint = (block: Fields | undefined): boolean => block !== undefined && isFields(block['cachePoint']);

/** Most points of a request. Source: AWS, "Prompt caching", 2026-11-22. */
const MOST = 4;

interface Marked {
  readonly system: readonly Fields[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Fields[] }[];
}

/** A conversation with as many points as the service takes; its oldest go first: those behind them cover the same. */
export function limitPoints(
  { system, messages }: Marked,
  toolConfig?: Fields,
): Marked & { readonly isReduced: boolean } {
  const tools: readonly Fields[] = Array.isArray(toolConfig?.['tools']) ? toolConfig['tools'] : [];
  const points = [tools, system, ...messages.map(({ content }) => content)].flat().filter(isPoint).length;
  let spare = points - MOST;
  if (spare <= 0) return { system, messages, isReduced: false };
  const reduced = (blocks: readonly Fields[]): readonly Fields[] =>
    blocks.filter((block) => {
      if (spare <= 0 || !isPoint(block)) return true;
      spare -= 1;
      return false;
    });
  return {
    messages: messages.map(({ role, content }) => ({ role, content: reduced(content) })),
    system: reduced(system),
    isReduced: true,
  };
}
