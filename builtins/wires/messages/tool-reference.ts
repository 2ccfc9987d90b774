import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  type Fields,
  isFields,
  isText,
} from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';
import { shortName } from '../tool-names.ts';

/** The type of a block that names a tool which a search of tools has found. Source: @anthropic-ai/sdk 1.12.0, "BetaToolReferenceBlockParam", 2026-11-26. */
export const REFERENCE = 'tool_reference';

const LOADED = 'Tool loaded: ';

/** The part of such a block: the tools that were found stand in `tools` already, so that a text says it all. */
export function referenceParts({ tool_name: name }: Readonly<Fields>, at: string, notes: Notes): ContentPart[] {
  if (isText(name)) return [{ type: 'text', text: LOADED + name }];
  notes.refuse(`${at}.tool_name must be a string, and not an empty one`);
  return [];
}

/** The request with the short names of tools that this one has, where results say that one was found. Changes nothing in it. */
export function withShortReferences(request: ChatRequest, turns: unknown): ChatRequest {
  const texts = new Map(referencedNames(turns).map((name) => [LOADED + name, LOADED + shortName(name)]));
  if (![...texts].some(([long, short]) => long !== short)) return request;
  return { ...request, messages: request.messages.map((message) => withTexts(message, texts)) };
}

function withTexts(message: ChatMessage, texts: ReadonlyMap<string, string>): ChatMessage {
  const { role, content } = message;
  if (role !== 'tool') return message;
  if (typeof content === 'string') return { ...message, content: texts.get(content) ?? content };
  if (!content) return message;
  return {
    ...message,
    content: content.map((part) =>
      part.type === 'text' ? { ...part, text: texts.get(part.text) ?? part.text } : part,
    ),
  };
}

/** Names of the tools that results of a conversation speak of. */
function referencedNames(turns: unknown): string[] {
  const blocksIn = (holder: unknown): Fields[] =>
    isFields(holder) && Array.isArray(holder['content']) ? holder['content'].filter(isFields) : [];
  return (Array.isArray(turns) ? turns : [])
    .flatMap(blocksIn)
    .filter(({ type }) => type === 'tool_result')
    .flatMap(blocksIn)
    .filter(({ type }) => type === REFERENCE)
    .map(({ tool_name: name }) => name)
    .filter(isText);
}
