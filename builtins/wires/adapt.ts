import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  type Fields,
  isFields,
  type ToolCall,
} from '../../host/contract/index.ts';
import type { Adapted, TargetFacts } from '../../host/wire/client-request.ts';
import type { NotedHistory } from './history-notes.ts';
import { isSystem, placeLateSystem, type PlacedLate } from './late-system.ts';
import { lostMarks, markedMessage, markedTools, readsPartMarks } from './marks.ts';
import { lostThoughts, thoughtfulMessage } from './taken-thoughts.ts';
import {
  latePlace,
  reasons,
  speaksCommon,
  takesErrorsInResults,
  takesLongNames,
  takesMediaInResults,
  takesNoThinking,
  takesTier,
} from './targets.ts';
import { shortName } from './tool-names.ts';

/** Fields of a common request that not every target takes, and the paths that clients of a wire know them by. */
export interface FieldPaths {
  readonly effort: string;
  readonly top_k: string;
  readonly service_tier: string;
  /** Marks of caches and thoughts of earlier turns. */
  readonly history: NotedHistory;
  /** Where a late system message has its role, counted from 0 among those that are read. */
  readonly late: (index: number) => string | undefined;
  /** Where results say that their tool failed. */
  readonly failures: () => readonly string[];
}

/** A common request as one target takes it. See docs/reference/ingress.md#messages-the-request. */
export function adaptCommon(asked: ChatRequest, target: TargetFacts, paths: FieldPaths): Adapted<ChatRequest> {
  const lost: string[] = [];
  const request: Fields = { ...asked };
  boundCeiling(request, target);
  if (speaksCommon(target)) adaptFields(request, target, paths, lost);
  if (!takesTier(target) && typeof asked.service_tier === 'string') {
    delete request['service_tier'];
    lost.push(paths.service_tier);
  }
  const { messages, turned } = adaptMessages(asked.messages, target);
  request['messages'] = messages;
  if (asked.tools) request['tools'] = markedTools(asked.tools, target);
  if (!takesLongNames(target)) shortenTools(request as unknown as ChatRequest, request);
  return {
    request: request as unknown as ChatRequest,
    lost: [
      ...lost,
      ...lostMarks(paths.history, target),
      ...lostThoughts(paths.history, target),
      ...(takesErrorsInResults(target) ? [] : paths.failures()),
      ...latePath(turned, paths),
    ],
  };
}

function boundCeiling(request: Fields, { entry }: TargetFacts): void {
  const most = entry?.max_output_tokens ?? 0;
  if (most <= 0) return;
  if (Number(request['max_tokens']) > most) request['max_tokens'] = most;
  if (Number(request['max_completion_tokens']) > most) request['max_completion_tokens'] = most;
}

/** What targets of the common wire do not have, or only for models that reason. */
function adaptFields(request: Fields, target: TargetFacts, paths: FieldPaths, lost: string[]): void {
  const { reasoning_effort: effort, top_k: topK } = request;
  if (effort === 'none') {
    if (!takesNoThinking(target)) delete request['reasoning_effort'];
  } else if (effort !== undefined && !reasons(target)) {
    delete request['reasoning_effort'];
    lost.push(paths.effort);
  }
  if (topK !== undefined) {
    delete request['top_k'];
    lost.push(paths.top_k);
  }
}

const latePath = (turned: number | undefined, { late }: FieldPaths): readonly string[] =>
  turned === undefined ? [] : [late(turned) ?? 'messages'];

function adaptMessages(messages: readonly ChatMessage[], target: TargetFacts): PlacedLate {
  const place = latePlace(target);
  const begun = place === 'nowhere' && speaksCommon(target) ? withOneBeginning(messages) : messages;
  const own = begun.flatMap((message) => adaptMessage(message, target));
  const placed = placeLateSystem(own, { place, asParts: readsPartMarks(target) });
  return takesMediaInResults(target) ? placed : { ...placed, messages: withMediaBehindResults(placed.messages) };
}

/** System messages in front of the first turn are one, where the target may not take several. */
function withOneBeginning(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const end = messages.findIndex((message) => !isSystem(message));
  const leading = messages.slice(0, end < 0 ? messages.length : end);
  const own = leading.filter(({ role }) => role === 'system');
  if (own.length < 2) return messages;
  const content = own
    .map((message) => textOf(message.content))
    .filter((text) => text !== '')
    .join('\n');
  return [
    { ...own[0], role: 'system', content },
    ...leading.filter(({ role }) => role !== 'system'),
    ...messages.slice(leading.length),
  ];
}

export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => (part.type === 'text' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

/** A message with what the target takes of it; none for a turn that held nothing else. */
function adaptMessage(message: ChatMessage, target: TargetFacts): readonly ChatMessage[] {
  const taken = thoughtfulMessage(message, target);
  if (!taken) return [];
  const { tool_calls: calls, is_error: isError, ...rest } = markedMessage(taken, target);
  return [
    {
      ...rest,
      ...(calls && { tool_calls: takesLongNames(target) ? calls : calls.map(withShortName) }),
      ...(isError === true && takesErrorsInResults(target) && { is_error: true }),
    },
  ];
}

function withShortName(call: ToolCall): ToolCall {
  const { name } = call.function;
  return name === undefined || shortName(name) === name
    ? call
    : { ...call, function: { ...call.function, name: shortName(name) } };
}

function shortenTools({ tools, tool_choice: choice }: ChatRequest, request: Fields): void {
  if (tools)
    request['tools'] = tools.map((tool) =>
      tool.function ? { ...tool, function: { ...tool.function, name: shortName(tool.function.name) } } : tool,
    );
  if (isFields(choice) && isFields(choice['function']) && typeof choice['function']['name'] === 'string') {
    request['tool_choice'] = { ...choice, function: { name: shortName(choice['function']['name']) } };
  }
}

const isText = ({ type }: ContentPart): boolean => type === 'text' || type === 'refusal';

/** Said where a result held nothing but media. */
const ELSEWHERE = '(see the next message)';

/** Texts as one, unless one is marked; a word of the media that follow, where there are no texts. */
function textOfResult(texts: readonly ContentPart[], hasMedia: boolean): ChatMessage['content'] {
  if (texts.some((part) => part['cache_control'] !== undefined)) return texts;
  return textOf(texts) || (hasMedia ? ELSEWHERE : '');
}

/** Where results hold text only: their media follow, in order, in one message behind the last result of the turn. */
function withMediaBehindResults(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (!messages.some(({ role, content }) => role === 'tool' && Array.isArray(content) && !content.every(isText)))
    return messages;
  const out: ChatMessage[] = [];
  let media: ContentPart[] = [];
  for (const [at, message] of messages.entries()) {
    const { role, content } = message;
    if (role !== 'tool' || !Array.isArray(content)) out.push(message);
    else {
      const parts = content as readonly ContentPart[];
      const others = parts.filter((part) => !isText(part));
      for (const part of others) media.push(part);
      out.push({ ...message, content: textOfResult(parts.filter(isText), others.length > 0) });
    }
    if (role === 'tool' && messages[at + 1]?.role !== 'tool' && media.length > 0) {
      out.push({ role: 'user', content: media });
      media = [];
    }
  }
  return out;
}
