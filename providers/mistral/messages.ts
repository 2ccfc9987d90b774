import type { ChatMessage, ContentPart, ToolCall } from 'gw/contract';
import { type Fields, invalidRequest, isFields, isGiven, type Notes, withoutAbsent } from 'gw/common-wire';
import { CallIds, NINE_CHARACTERS } from '../_common/call-ids.ts';
import { fileAddress, textOfAddress, typeOfAddress } from '../_common/file-types.ts';

/**
 * Turns with the members that the closed schema has, in an order that the vendor takes. Source: @mistralai/mistralai 2.7.0,
 * messages and content chunks; mistralai/mistral-common, protocol/instruct/validator.py; 2026-11-22. `thinks` says whether the
 * model takes its thinking back.
 */
export function toMessages(messages: readonly ChatMessage[], notes: Notes, thinks: boolean): readonly ChatMessage[] {
  const ids = new CallIds(NINE_CHARACTERS);
  const turns = messages
    .map((message, at) => toTurn(message, withThought(contentOf(message, at, notes), thinks ? message : {}), ids))
    .filter(saysSomething);
  const ordered = turns.some(isLateSystem)
    ? [...turns.filter(isSystem), ...turns.filter((turn) => !isSystem(turn))]
    : turns;
  const bridged = ordered.flatMap((turn, at) =>
    turn.role === 'user' && ordered[at - 1]?.role === 'tool' ? [BRIDGE, turn] : [turn],
  );
  const last = bridged.at(-1);
  // A turn of the assistant at the end is to be continued, and must say so.
  return last?.role === 'assistant' && !last.tool_calls
    ? [...bridged.slice(0, -1), { ...last, prefix: true }]
    : bridged;
}

/**
 * What the assistant says to results before the user goes on: "Unexpected role 'user' after role 'tool'". Source:
 * NousResearch/hermes-agent issue 20154, 2026-05-05; avante-corp/avante.nvim pull request 2695, 2025-09-07.
 */
const BRIDGE: ChatMessage = { role: 'assistant', content: 'I have seen the results.' };

function toTurn(
  { role, name, tool_call_id: id, tool_calls: calls }: ChatMessage,
  content: ChatMessage['content'],
  ids: CallIds,
): ChatMessage {
  return {
    role,
    content,
    ...(role === 'assistant' && calls && calls.length > 0 && { tool_calls: calls.map((call) => toCall(call, ids)) }),
    ...(role === 'tool' && { tool_call_id: ids.ofResult(id), ...(isGiven(name) && { name }) }),
  };
}

/** A turn of the assistant without text and calls is refused. */
const saysSomething = ({ role, content, tool_calls: calls }: ChatMessage): boolean =>
  role !== 'assistant' || calls !== undefined || (content !== '' && content?.length !== 0);

const isSystem = ({ role }: ChatMessage): boolean => role === 'system';

/** A system message must not come after one of the assistant or a tool, nor last. */
const isLateSystem = (turn: ChatMessage, at: number, turns: readonly ChatMessage[]): boolean =>
  isSystem(turn) && (at === turns.length - 1 || ['assistant', 'tool'].includes(turns[at - 1]?.role ?? ''));

function toCall({ id, function: target }: ToolCall, ids: CallIds): ToolCall {
  return {
    id: ids.ofCall(id),
    type: 'function',
    function: { ...(target.name !== undefined && { name: target.name }), arguments: target.arguments || '{}' },
  };
}

/** The thinking of a turn that says something, before it. Source: GitHub vercel/ai, "mistral-reasoning-history-live", 2026-07-27. */
function withThought(
  content: string | readonly ContentPart[],
  { role, reasoning_content: thought, tool_calls: calls }: Partial<ChatMessage>,
): string | readonly ContentPart[] {
  const isSaid = content.length > 0 || (calls?.length ?? 0) > 0;
  if (role !== 'assistant' || !isGiven(thought) || !isSaid) return content;
  const said =
    typeof content === 'string' ? [{ type: 'text', text: content }].filter(({ text }) => text !== '') : content;
  return [
    { type: 'thinking', thinking: [{ type: 'text', text: thought }], closed: true },
    ...said,
  ] as readonly ContentPart[];
}

/** A refusal becomes the text of the assistant's message where it has no other. */
function contentOf({ content, refusal }: ChatMessage, at: number, notes: Notes): string | readonly ContentPart[] {
  if (!Array.isArray(content))
    return (typeof content === 'string' && content) || (typeof refusal === 'string' ? refusal : '');
  return (content as readonly ContentPart[]).map((part, place) => {
    if (isGiven(part['cache_control'])) notes.ignored.push('cache_control');
    return toPart(part, `messages[${at}].content[${place}]`) as ContentPart;
  });
}

function toPart(part: ContentPart, at: string): Fields {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text };
    case 'image_url':
      return {
        type: 'image_url',
        image_url: withoutAbsent({ url: part.image_url.url, detail: part.image_url.detail }),
      };
    case 'input_audio':
      return { type: 'input_audio', input_audio: audioOf(part['input_audio'], at) };
    default:
      return toFile(part['file'], at);
  }
}

/** Base64 or an address, without the format beside it. */
function audioOf(audio: unknown, at: string): string {
  const data = isFields(audio) ? audio['data'] : audio;
  if (typeof data !== 'string' || data === '') throw invalidRequest(`${at}: input_audio holds no data`);
  return data;
}

/** Documents by their address, or by the id of an upload; texts as what they say. */
function toFile(file: unknown, at: string): Fields {
  const { file_data: data, file_id: id, filename } = isFields(file) ? file : {};
  if (typeof data !== 'string' || data === '') {
    if (typeof id === 'string' && id !== '') return { type: 'file', file_id: id };
    throw invalidRequest(`${at}: mistral takes a file by its file_data or file_id`);
  }
  const address = fileAddress(data, filename, at);
  if (typeOfAddress(address).startsWith('image/')) return { type: 'image_url', image_url: { url: address } };
  const text = textOfAddress(address);
  if (text !== undefined) return { type: 'text', text };
  return {
    type: 'document_url',
    document_url: address,
    ...(typeof filename === 'string' && filename !== '' && { document_name: filename }),
  };
}
