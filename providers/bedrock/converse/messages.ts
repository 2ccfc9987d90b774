import { type ChatMessage, type ContentPart, contentTexts, parseJson, plainCallName, type ToolCall } from 'gw/contract';
import { addAll, type Fields, invalidRequest, isFields } from 'gw/common-wire';
import { thinkingBlocks } from '../../_common/anthropic/reasoning.ts';
import { cacheMarkOf } from '../../_common/cache-marks.ts';
import { CallIds, NINE_CHARACTERS, wordIds } from '../../_common/call-ids.ts';
import type { Traits } from '../models.ts';
import { cachePoint, isPoint } from './cache.ts';
import { audioBlock, fileBlock, imageBlock } from './media.ts';

export interface Conversation {
  readonly system: readonly Fields[];
  readonly messages: readonly Turn[];
  /** A cache mark stands where nothing precedes it. */
  readonly lostMark: boolean;
}

interface Turn {
  readonly role: string;
  readonly content: Fields[];
}

/** Source: Amazon Bedrock API reference, "ToolUseBlock", 2026-11-22. */
const IDS = wordIds(64);

/**
 * The conversation as Converse and Nova write it: roles take turns, so neighbours of one role share a turn, and empty texts
 * and turns are left out. Throws a 400 that names the part a model cannot take. Source: Amazon Bedrock API reference, "Message", 2026-11-21.
 */
export function toConversation(messages: readonly ChatMessage[], traits: Traits): Conversation {
  const draft = new Draft(traits);
  const system: Fields[] = [];
  const turns: Turn[] = [];
  messages.forEach((message, index) => {
    draft.index = index;
    if (message.role === 'system' || message.role === 'developer') addAll(system, systemBlocks(message, draft));
    else if (message.role === 'tool') addTo(turns, 'user', resultBlocks(message, draft));
    else addTo(turns, message.role, spokenBlocks(message, draft));
  });
  if (turns.length === 0) throw invalidRequest('messages: bedrock needs a turn that says something');
  trimEnd(turns);
  for (const { content } of turns) nameDocuments(content);
  return { system, messages: turns, lostMark: draft.lostMark };
}

/** A conversation while it is written: which message is, what the model takes, and what is noted. */
class Draft {
  readonly traits: Traits;
  readonly ids: CallIds;
  index = 0;
  lostMark = false;

  constructor(traits: Traits) {
    this.traits = traits;
    this.ids = new CallIds(traits.nineCharacterIds ? NINE_CHARACTERS : IDS);
  }

  at(part: number): string {
    return `messages[${this.index}].content[${part}]`;
  }

  /** Ends what is cached behind the blocks so far, where some holder is marked so. */
  mark(blocks: Fields[], mark: Fields | undefined): void {
    if (!mark || !this.traits.caches || isPoint(blocks.at(-1))) return;
    if (blocks.length === 0) this.lostMark = true;
    else addAll(blocks, cachePoint(mark, this.traits));
  }
}

function addTo(turns: Turn[], role: string, content: Fields[]): void {
  if (content.length === 0) return;
  const last = turns.at(-1);
  if (last?.role === role) addAll(last.content, content);
  else turns.push({ role, content });
}

/** White space at the end of an answer that is to be continued is refused. */
function trimEnd(turns: readonly Turn[]): void {
  const last = turns.at(-1);
  const at = last?.content.findLastIndex((block) => !isPoint(block)) ?? -1;
  const text = last?.content[at]?.['text'];
  if (last?.role === 'assistant' && typeof text === 'string') last.content[at] = { text: text.trimEnd() };
}

/** A turn with a document must hold a text too. Source: Amazon Bedrock API reference, "ContentBlock", 2026-11-22. */
function nameDocuments(content: Fields[]): void {
  const documents = content.flatMap(({ document }) => (isFields(document) ? [String(document['name'])] : []));
  if (documents.length > 0 && !content.some((block) => 'text' in block)) content.push({ text: documents.join(', ') });
}

function systemBlocks(message: ChatMessage, draft: Draft): Fields[] {
  return joined(message, draft, (part, at) => {
    if (part.type !== 'text')
      throw invalidRequest(`${draft.at(at)}: a ${message.role} message takes text only, not ${part.type}`);
    return textBlock(part.text);
  });
}

/** The blocks of a message's content, with the points that it and its parts ask for. */
function joined(
  message: ChatMessage,
  draft: Draft,
  blocksOf: (part: ContentPart, at: number) => readonly Fields[],
): Fields[] {
  const { content } = message;
  const blocks: Fields[] = [];
  if (!Array.isArray(content)) addAll(blocks, textBlock(content));
  else
    content.forEach((part: ContentPart, at) => {
      addAll(blocks, blocksOf(part, at));
      draft.mark(blocks, cacheMarkOf(part));
    });
  if (message.role !== 'assistant') draft.mark(blocks, cacheMarkOf(message));
  return blocks;
}

/** The service refuses texts without a letter. */
function textBlock(text: unknown): Fields[] {
  return typeof text === 'string' && text.trim() !== '' ? [{ text }] : [];
}

function spokenBlocks(message: ChatMessage, draft: Draft): Fields[] {
  const said = joined(message, draft, (part, at) => partBlock(part, at, draft));
  if (message.role !== 'assistant') return said;
  const spoken = said.length > 0 ? said : textBlock(message['refusal']);
  const blocks = [
    ...thinkingBlocks(message).map(reasoningBlock),
    ...spoken,
    ...(message.tool_calls ?? []).map((call) => callBlock(call, draft)),
  ];
  draft.mark(blocks, cacheMarkOf(message));
  return blocks;
}

function reasoningBlock({ type, thinking, signature, data }: Fields): Fields {
  return {
    reasoningContent:
      type === 'thinking' ? { reasoningText: { text: thinking, signature } } : { redactedContent: data },
  };
}

function partBlock(part: ContentPart, at: number, place: Draft): Fields[] {
  const { images, documents, audio } = place.traits;
  if (part.type === 'text') return textBlock(part.text);
  if (part.type === 'refusal') return textBlock(part.refusal);
  if (part.type === 'image_url' && images) return [imageBlock(part.image_url, place.at(at))];
  if (part.type === 'file' && (documents || images))
    return [fileBlock(part.file, place.at(at), `${place.index}-${at}`)];
  if (part.type === 'input_audio' && audio) return [audioBlock(part.input_audio, place.at(at))];
  throw invalidRequest(`${place.at(at)}: this model takes no ${part.type} parts`);
}

function callBlock({ id, function: called }: ToolCall, { ids }: Draft): Fields {
  return {
    toolUse: { toolUseId: ids.ofCall(id), name: plainCallName(called?.name), input: inputOf(called?.arguments) },
  };
}

/** Arguments that are not a JSON object become `{}`. See docs/providers.md#bedrock-models. */
function inputOf(text: string | null | undefined): Fields {
  try {
    const input: unknown = parseJson(text ?? '');
    return isFields(input) ? input : {};
  } catch {
    return {};
  }
}

function resultBlocks(message: ChatMessage, draft: Draft): Fields[] {
  const parts: readonly ContentPart[] = Array.isArray(message.content) ? message.content : [];
  const hasMedia = parts.some(({ type }) => type !== 'text' && type !== 'refusal');
  const isError = message['is_error'] === true;
  const content = hasMedia
    ? parts.flatMap((part, at) => partBlock(part, at, draft))
    : textBlock([...contentTexts(message)].join(''));
  const blocks: Fields[] = [
    {
      toolResult: {
        toolUseId: draft.ids.ofResult(message.tool_call_id),
        content: isError && content.length === 0 ? [{ text: 'error' }] : content, // the service refuses a failure without a word
        ...(isError && { status: 'error' }),
      },
    },
  ];
  const marked = [...parts, message].findLast((holder: Fields) => cacheMarkOf(holder));
  draft.mark(blocks, marked && cacheMarkOf(marked));
  return blocks;
}

/** Names of tools that earlier turns called: the service wants them declared. */
export function calledTools(messages: readonly ChatMessage[]): string[] {
  return [
    ...new Set(
      messages.flatMap(({ tool_calls: calls }) =>
        (calls ?? []).flatMap(({ function: called }) => plainCallName(called?.name) || []),
      ),
    ),
  ];
}

export const hasToolTurns = (messages: readonly ChatMessage[]): boolean =>
  messages.some(({ role, tool_calls: calls }) => role === 'tool' || (calls?.length ?? 0) > 0);
