import {
  type ChatMessage,
  type ContentPart,
  type Fields,
  isFields,
  isText,
  type ToolCall,
} from '../../../host/contract/index.ts';
import type { Notes } from '../notes.ts';
import { CallLedger } from './call-ledger.ts';
import { documentParts, imageParts, searchResultParts } from './media.ts';
import { messageSpot } from '../marks.ts';
import { plainContent } from '../plain-content.ts';
import { marked, readMark } from './mark.ts';
import { systemMessage } from './system.ts';
import { textsOf } from './texts.ts';
import { Thoughts } from './thoughts.ts';
import { REFERENCE, referenceParts } from './tool-reference.ts';

type Block = Readonly<Fields>;

/** What is noted of a conversation while it is read. */
interface Draft {
  readonly notes: Notes;
  /** Blocks that a newer version of the API refuses. */
  readonly isStrict: boolean;
  readonly messages: ChatMessage[];
  readonly calls: CallLedger;
  /** System messages between calls and the turn that answers them: they follow that turn. */
  readonly held: ChatMessage[];
}

/** How a conversation is read. */
export interface Reading {
  /** Blocks that a newer version of the API refuses. */
  readonly isStrict: boolean;
  /** Nothing but its tokens is asked for. */
  readonly isCounting: boolean;
}

/** The turns of a body as messages of the common format. See docs/reference/ingress.md#messages-the-conversation. */
export function readConversation(
  turns: readonly unknown[],
  { isStrict, isCounting }: Reading,
  notes: Notes,
): ChatMessage[] {
  const draft: Draft = { notes, isStrict, messages: [], calls: new CallLedger(!isCounting), held: [] };
  let before: unknown;
  let answered = 0; // messages up to the last answer
  turns.forEach((turn, index) => {
    const at = `messages[${index}]`;
    if (!isFields(turn)) {
      notes.refuse(`${at} must be an object`);
      return;
    }
    const { role, content } = turn;
    if (before === 'user' && role === 'assistant') refuseOpen(draft);
    if (role === 'user' || role === 'assistant') before = role;
    if (role === 'assistant') release(draft);
    readTurn(role, content, at, draft);
    if (role === 'system') noteDirection(turn, at, notes);
    if (!draft.calls.isOpen) release(draft);
    if (role === 'assistant') answered = draft.messages.length;
  });
  if (before === 'user') refuseOpen(draft);
  release(draft);
  if (before === 'user') keepSilence(draft.messages, answered);
  return draft.messages;
}

function release({ held, messages }: Draft): void {
  for (const message of held.splice(0)) messages.push(message);
}

/** What a system message asks of the answers from there on. No other wire has it. */
function noteDirection({ output_config: config }: Block, at: string, notes: Notes): void {
  if (config !== undefined && config !== null) notes.lose(`${at}.output_config`);
}

/** A user who says nothing behind the last answer says so: without a turn of their own, the model would go on with that answer. */
function keepSilence(messages: ChatMessage[], answered: number): void {
  const isAnswer = messages[answered - 1]?.role === 'assistant';
  if (isAnswer && messages.slice(answered).every(({ role }) => role === 'system'))
    messages.splice(answered, 0, { role: 'user', content: '' });
}

function refuseOpen({ calls, notes }: Draft): void {
  const open = calls.takeOpen();
  if (open !== undefined) notes.refuse(`${open}: the turn after this tool_use holds no tool_result for it`);
}

function readTurn(role: unknown, content: unknown, at: string, draft: Draft): void {
  if (typeof content !== 'string' && !Array.isArray(content)) {
    draft.notes.refuse(`${at}.content must be a string or a list of blocks`);
    return;
  }
  switch (role) {
    case 'user':
      return readUser(content, at, draft);
    case 'assistant':
      return readAssistant(content, at, draft);
    case 'system': {
      const message = systemMessage(content, `${at}.content`, draft.notes);
      if (message) draft.held.push(message);
      return;
    }
    default:
      draft.notes.refuse(`${at}.role must be user, assistant or system`);
  }
}

/** Results come first, each a message of its own, then what else the turn says. */
function readUser(content: string | readonly unknown[], at: string, draft: Draft): void {
  if (typeof content === 'string') {
    if (content !== '') draft.messages.push({ role: 'user', content });
    return;
  }
  const parts: ContentPart[] = [];
  eachBlock(content, at, draft, (block, place) => {
    if (block['type'] === 'tool_result') draft.messages.push(resultMessage(block, place, draft));
    else for (const part of userParts(block, place, draft, parts)) parts.push(part);
  });
  if (parts.length > 0) draft.messages.push({ role: 'user', content: plainContent(parts) });
}

function eachBlock(
  content: readonly unknown[],
  at: string,
  { notes }: Draft,
  read: (block: Block, at: string) => void,
): void {
  content.forEach((block: unknown, place) => {
    const here = `${at}.content[${place}]`;
    if (isFields(block) && isText(block['type'])) read(block, here);
    else notes.refuse(`${here} must be a block with a type`);
  });
}

function userParts(block: Block, at: string, draft: Draft, before: ContentPart[]): ContentPart[] {
  if (draft.isStrict) refuseCitations(block, at, draft);
  return marked(contentParts(block, at, draft), { block, at, before }, draft.notes);
}

/** A block that is refused, as the texts in it: no target gets them, guardrails and routing do. */
const refusedParts = (block: Block): ContentPart[] => textsOf(block).map((text) => ({ type: 'text', text }));

/** What both turns of users and results of tools may hold. */
function contentParts(block: Block, at: string, { notes }: Draft): ContentPart[] {
  const before = notes.refusals;
  const parts = partsOf(block, at, notes);
  return notes.refusals === before ? parts : refusedParts(block);
}

function partsOf(block: Block, at: string, notes: Notes): ContentPart[] {
  switch (block['type']) {
    case 'text':
      return textParts(block, at, notes);
    case 'image':
      return imageParts(block, at, notes);
    case 'document':
      return documentParts(block, at, notes);
    case 'search_result':
      return searchResultParts(block, at, notes);
    default:
      notes.refuse(
        `${at}: a block of the type ${JSON.stringify(block['type'])} does not reach a provider of another wire`,
      );
      return [];
  }
}

/** A newer version refuses citations in what the user says. See docs/reference/ingress.md#newer-versions-of-messages. */
function refuseCitations({ type, citations, content }: Block, at: string, { notes }: Draft): void {
  const isCited = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
  const inside = type === 'search_result' && Array.isArray(content) ? content.filter(isFields) : [];
  if ((type === 'text' && isCited(citations)) || inside.some((block) => isCited(block['citations'])))
    notes.refuse(`${at}: citations are not allowed in a user message by this anthropic-version`);
}

function textParts({ text, citations }: Block, at: string, notes: Notes): ContentPart[] {
  if (typeof text !== 'string') {
    notes.refuse(`${at}.text must be a string`);
    return [];
  }
  if (Array.isArray(citations) && citations.length > 0) notes.lose(`${at}.citations`);
  return text === '' ? [] : [{ type: 'text', text }];
}

function resultMessage(block: Block, at: string, draft: Draft): ChatMessage {
  const { tool_use_id: id, content = '', is_error: isError } = block;
  const mark = readMark(block, at, draft.notes);
  const said = resultContent(content, at, draft);
  if (mark) draft.notes.history.mark(`${at}.cache_control`, messageSpot(said));
  const problem = draft.calls.answer(id);
  if (problem !== undefined) draft.notes.refuse(`${at}.tool_use_id ${problem}`);
  if (isError !== undefined && isError !== null && typeof isError !== 'boolean')
    draft.notes.refuse(`${at}.is_error must be true or false`);
  return {
    role: 'tool',
    tool_call_id: String(id),
    content: said,
    ...(isError === true && { is_error: true }),
    ...(mark && { cache_control: mark }),
  };
}

function resultContent(content: unknown, at: string, draft: Draft): ChatMessage['content'] {
  if (typeof content === 'string' || content === null) return content ?? '';
  if (!Array.isArray(content)) {
    draft.notes.refuse(`${at}.content must be a string or a list of blocks`);
    return '';
  }
  const parts: ContentPart[] = [];
  eachBlock(content, at, draft, (block, place) => {
    const own =
      block['type'] === REFERENCE ? referenceParts(block, place, draft.notes) : contentParts(block, place, draft);
    for (const part of marked(own, { block, at: place, before: parts }, draft.notes)) parts.push(part);
  });
  return parts.length === 0 ? '' : plainContent(parts);
}

function readAssistant(content: string | readonly unknown[], at: string, draft: Draft): void {
  if (typeof content === 'string') {
    if (content !== '') draft.messages.push({ role: 'assistant', content });
    return;
  }
  const parts: ContentPart[] = [];
  const calls: ToolCall[] = [];
  const places: string[] = [];
  const thoughts = new Thoughts();
  eachBlock(content, at, draft, (block, place) => {
    switch (block['type']) {
      case 'text':
        for (const part of marked(
          textParts(block, place, draft.notes),
          { block, at: place, before: parts },
          draft.notes,
        ))
          parts.push(part);
        return;
      case 'tool_use':
        calls.push(callOf(block, place, draft));
        places.push(place);
        return;
      case 'thinking':
      case 'redacted_thinking':
        thoughts.add(block, place);
        marked([], { block, at: place, before: parts }, draft.notes);
        return;
      default:
        draft.notes.refuse(
          `${place}: a block of the type ${JSON.stringify(block['type'])} in an assistant turn does not reach a provider of another wire`,
        );
        for (const part of refusedParts(block)) parts.push(part);
    }
  });
  noteCallMarks(calls, places, draft.notes);
  if (parts.length === 0 && calls.length === 0 && thoughts.isEmpty) return;
  draft.notes.history.turn(thoughts.notes, {
    calls: new Set(calls.map(({ id }) => id)),
    saysMore: parts.length > 0 || calls.length > 0,
  });
  draft.messages.push({
    role: 'assistant',
    content: parts.length === 0 ? null : plainContent(parts),
    ...thoughts.members(),
    ...(calls.length > 0 && { tool_calls: calls }),
  });
}

function noteCallMarks(calls: readonly ToolCall[], paths: readonly string[], { history }: Notes): void {
  calls.forEach((call, at) => {
    if ('cache_control' in call)
      history.mark(`${paths[at]}.cache_control`, { kind: 'call', isLast: at === calls.length - 1 });
  });
}

function callOf(block: Block, at: string, { notes, calls }: Draft): ToolCall {
  const { id, name, input } = block;
  const mark = readMark(block, at, notes);
  if (!isText(id)) notes.refuse(`${at}.id must be a string`);
  else calls.call(id, at);
  if (!isText(name)) notes.refuse(`${at}.name must be a string`);
  if (!isFields(input)) notes.refuse(`${at}.input must be an object`);
  return {
    id: String(id),
    type: 'function',
    function: { name: String(name), arguments: JSON.stringify(isFields(input) ? input : {}) },
    ...(mark && { cache_control: mark }),
  };
}
