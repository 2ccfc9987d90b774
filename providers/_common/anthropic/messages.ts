import { wholeText } from '../conversation.ts';
import type { ChatMessage, ContentPart, ToolCall } from 'gw/contract';
import { cacheMarkOf } from '../cache-marks.ts';
import { CallIds, wordIds } from '../call-ids.ts';
import { addAll, type Fields, invalidRequest, isFields } from '../fields.ts';
import { markLast } from './cache.ts';
import { exactJson } from './exact-json.ts';
import { fileBlock, imageBlock, isFileId } from './media.ts';
import { thinkingBlocks } from './reasoning.ts';
import { withSystemInPlace } from './system-turns.ts';
import { addResult, addTurn, lacksThinking, trimmedEnd, type Turn } from './turns.ts';
import type { MessagesVariant } from './variant.ts';

export interface NativeConversation {
  /** Absent when nothing is in it. */
  readonly system: string | readonly Fields[] | undefined;
  readonly messages: readonly Fields[];
  /** The assistant's turn that is to be gone on with, or that called the tools whose results come last, begins without thinking. */
  readonly lacksThinking: boolean;
  /** Some turn of the assistant begins with thoughts of this vendor. */
  readonly holdsThoughts: boolean;
  /** Some system message stands among the turns. */
  readonly placesSystem: boolean;
  /** A cache mark stands where no block can hold it. */
  readonly lostMark: boolean;
  /** Some file is named by its id. */
  readonly namesFiles: boolean;
}

/** Ids of calls. Source: the vendor's answer to others, "String should match pattern '^[a-zA-Z0-9_-]+$'", GitHub QwenLM/qwen-code issue 8160, 2026-11-22. */
const IDS = wordIds(Number.POSITIVE_INFINITY);

/** What is noted of a conversation while it is written. */
class Draft {
  readonly variant: MessagesVariant;
  readonly ids = new CallIds(IDS);
  lostMark = false;
  namesFiles = false;
  holdsThoughts = false;

  constructor(variant: MessagesVariant) {
    this.variant = variant;
  }

  /** Marks the last block. */
  mark(blocks: Fields[], holder: Fields): void {
    if (!markLast(blocks, cacheMarkOf(holder))) this.lostMark = true;
  }
}

/** Which system messages behind the first turn keep their place: all of them, those behind thoughts, or none. Others join the system text. */
export type SystemPlaces = 'kept' | 'behind_thoughts' | 'joined';

/** The conversation in the vendor's form. Throws a 400 that names what this form has no place for. See docs/providers.md#claude-models. */
export function toConversation(
  messages: readonly ChatMessage[],
  variant: MessagesVariant,
  places: SystemPlaces = 'joined',
): NativeConversation {
  const draft = new Draft(variant);
  const system: ChatMessage[] = [];
  const turns: Turn[] = [];
  let held: Turn[] = []; // system messages wait for results in front of the next turn
  const release = (): void => {
    for (const turn of held) addTurn(turns, turn);
    held = [];
  };
  messages.forEach((message, index) => {
    const at = `messages[${index}]`;
    if (message.role === 'system' || message.role === 'developer') {
      refuseMedia(message, at);
      const isKept = places === 'kept' || (places === 'behind_thoughts' && draft.holdsThoughts);
      if (!isKept || turns.length === 0) system.push(message);
      else held.push({ role: 'system', content: contentOf(message, at, draft), isSpoken: true });
    } else if (message.role === 'tool') addResult(turns, resultBlock(message, at, draft));
    else {
      release();
      addTurn(turns, { role: message.role, content: contentOf(message, at, draft), isSpoken: true });
    }
  });
  release();
  const placed = withSystemInPlace(turns);
  if (turns.length === 0) throw invalidRequest(`messages: ${variant.label} needs a turn that says something`);
  const instructions = systemOf(system, draft);
  return {
    system: instructions,
    messages: trimmedEnd(placed),
    lacksThinking: lacksThinking(placed),
    lostMark: draft.lostMark,
    holdsThoughts: draft.holdsThoughts,
    placesSystem: placed.some(({ role }) => role === 'system'),
    namesFiles: draft.namesFiles,
  };
}

function refuseMedia({ content, role }: ChatMessage, at: string): void {
  if (!Array.isArray(content)) return;
  content.forEach((part: ContentPart, place) => {
    if (part.type !== 'text')
      throw invalidRequest(`${at}.content[${place}]: a ${role} message takes text only, not ${part.type}`);
  });
}

/** One text; blocks where a message or some part marks a cache. */
function systemOf(messages: readonly ChatMessage[], draft: Draft): string | readonly Fields[] | undefined {
  const isMarked = messages.some(
    (message) =>
      cacheMarkOf(message) ||
      (Array.isArray(message.content) && message.content.some((part: Fields) => cacheMarkOf(part))),
  );
  if (!isMarked)
    return (
      messages
        .map(wholeText)
        .filter((text) => text.trim() !== '')
        .join('\n') || undefined
    );
  const blocks = messages.flatMap((message) => {
    const own =
      typeof message.content === 'string'
        ? textBlocks(message.content)
        : joined(message.content ?? [], draft, (part) => textBlocks(part['text']));
    draft.mark(own, message);
    return own;
  });
  return blocks.length > 0 ? blocks : undefined;
}

/** The vendor refuses empty text blocks. */
function textBlocks(text: unknown): Fields[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ type: 'text', text }] : [];
}

/** The blocks of parts, each with its cache mark; the mark of an empty part goes to the block before it. */
function joined(
  parts: readonly ContentPart[],
  draft: Draft,
  blocksOf: (part: ContentPart, place: number) => readonly Fields[],
): Fields[] {
  const blocks: Fields[] = [];
  parts.forEach((part, place) => {
    addAll(blocks, blocksOf(part, place));
    draft.mark(blocks, part);
  });
  return blocks;
}

/** Plain text as it is; empty where the message holds none. */
function contentOf(message: ChatMessage, at: string, draft: Draft): string | Fields[] {
  const isAssistant = message.role === 'assistant';
  const calls = isAssistant ? (message.tool_calls ?? []) : [];
  const thoughts = isAssistant ? thinkingBlocks(message) : [];
  if (thoughts.length > 0) draft.holdsThoughts = true;
  const blocks = [...thoughts, ...partBlocks(message, at, draft)];
  if (isAssistant && blocks.length === 0) addAll(blocks, textBlocks(message['refusal']));
  for (const [place, call] of calls.entries()) blocks.push(callBlock(call, `${at}.tool_calls[${place}]`, draft));
  draft.mark(blocks, message);
  const [only, ...others] = blocks;
  const isPlain =
    !Array.isArray(message.content) && others.length === 0 && only?.['type'] === 'text' && !cacheMarkOf(only);
  return isPlain ? String(only['text']) : blocks;
}

function partBlocks({ content }: ChatMessage, at: string, draft: Draft): Fields[] {
  if (!Array.isArray(content)) return textBlocks(content);
  return joined(content, draft, (part, place) => partBlock(part, `${at}.content[${place}]`, draft));
}

function partBlock(part: ContentPart, at: string, draft: Draft): Fields[] {
  switch (part.type) {
    case 'text':
      return textBlocks(part.text);
    case 'refusal':
      return textBlocks(part.refusal);
    case 'image_url':
      return [imageBlock(part.image_url, at, draft.variant)];
    case 'file':
      if (isFileId(part.file)) draft.namesFiles = true;
      return [fileBlock(part.file, at, draft.variant)];
    default:
      throw invalidRequest(`${at}: ${draft.variant.label} takes no ${part.type} parts`);
  }
}

function callBlock(call: ToolCall, at: string, { ids, variant }: Draft): Fields {
  const { function: called } = call;
  const mark = cacheMarkOf(call);
  return {
    type: 'tool_use',
    id: ids.ofCall(call.id),
    name: called?.name,
    input: inputOf(called?.arguments, at, variant),
    ...(mark && { cache_control: mark }),
  };
}

function inputOf(text: string | null | undefined, at: string, { label, repairsArguments }: MessagesVariant): Fields {
  if (text === undefined || text === null || text.trim() === '') return {};
  const input = exactJson(text);
  if (isFields(input)) return input;
  if (repairsArguments) return {};
  throw invalidRequest(`${at}.function.arguments must be a JSON object for ${label}`);
}

/** Plain text; blocks where it holds more than text. A cache mark of a part covers the whole result. */
function resultBlock(message: ChatMessage, at: string, draft: Draft): Fields {
  const parts: readonly ContentPart[] = Array.isArray(message.content) ? message.content : [];
  const hasMedia = parts.some(({ type }) => type !== 'text' && type !== 'refusal');
  const content = hasMedia
    ? parts.flatMap((part, place) => partBlock(part, `${at}.content[${place}]`, draft))
    : wholeText(message);
  const mark = [...parts, message].findLast((holder: Fields) => cacheMarkOf(holder));
  return {
    type: 'tool_result',
    tool_use_id: draft.ids.ofResult(message.tool_call_id),
    content,
    ...(message['is_error'] === true && { is_error: true }),
    ...(mark && { cache_control: cacheMarkOf(mark) }),
  };
}
