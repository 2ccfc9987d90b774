import {
  type ChatMessage,
  type ChatRequest,
  type ContentPart,
  type Fields,
  isFields,
  type ToolCall,
} from '../../host/contract/index.ts';
import type { Adapted, TargetFacts } from '../../host/wire/client-request.ts';
import {
  knowsReasoning,
  marksCaches,
  speaksCommon,
  takesErrorsInResults,
  takesLateInstructions,
  takesLongNames,
  takesMediaInResults,
  takesTier,
} from './targets.ts';
import { shortName } from './tool-names.ts';

/** Fields of a common request that not every target takes, and the paths that clients of a wire know them by. */
export interface FieldPaths {
  readonly effort: string;
  readonly top_k: string;
  readonly service_tier: string;
  /** Where reasoning of earlier turns stands that this target cannot read. */
  reasoning(isKnown: (format: unknown) => boolean): readonly string[];
  /** Where caches are marked. */
  readonly marks: () => readonly string[];
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
  const caching = marksCaches(target);
  const unread = paths.reasoning((format) => knowsReasoning(target, format));
  request['messages'] = adaptMessages(asked.messages, target, caching === 'asked');
  if (caching !== 'asked') {
    delete request['cache_control'];
    if (asked.tools) request['tools'] = asked.tools.map(({ cache_control: _mark, ...tool }) => tool);
  }
  if (!takesLongNames(target)) shortenTools(request as unknown as ChatRequest, request);
  return {
    request: request as unknown as ChatRequest,
    lost: [
      ...lost,
      ...(caching === 'never' ? paths.marks() : []),
      ...unread,
      ...(takesErrorsInResults(target) ? [] : paths.failures()),
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
function adaptFields(request: Fields, { entry }: TargetFacts, paths: FieldPaths, lost: string[]): void {
  const { reasoning_effort: effort, top_k: topK } = request;
  if (effort === 'none') delete request['reasoning_effort'];
  else if (effort !== undefined && entry?.capabilities['reasoning'] !== true) {
    delete request['reasoning_effort'];
    lost.push(paths.effort);
  }
  if (topK !== undefined) {
    delete request['top_k'];
    lost.push(paths.top_k);
  }
}

function adaptMessages(
  messages: readonly ChatMessage[],
  target: TargetFacts,
  keepsMarks: boolean,
): readonly ChatMessage[] {
  const placed = takesLateInstructions(target) ? messages : withInstructionsFirst(messages);
  const own = placed.map((message) => adaptMessage(message, target, keepsMarks));
  return takesMediaInResults(target) ? own : withMediaBehindResults(own);
}

/** Later instructions stand at the end of the first ones. */
function withInstructionsFirst(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const [first] = messages;
  const isLate = ({ role }: ChatMessage): boolean => role === 'system';
  if (!messages.some((message, at) => at > 0 && isLate(message))) return messages;
  const head = first && isLate(first) ? first : { role: 'system', content: '' };
  const late = messages.filter((message) => message !== head && isLate(message));
  return [
    {
      ...head,
      content: [head, ...late]
        .map(({ content }) => textOf(content))
        .filter((text) => text !== '')
        .join('\n'),
    },
    ...messages.filter((message) => !isLate(message)),
  ];
}

export function textOf(content: ChatMessage['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? [])
    .map((part) => (part.type === 'text' ? part.text : ''))
    .filter((text) => text !== '')
    .join('\n');
}

function adaptMessage(message: ChatMessage, target: TargetFacts, keepsMarks: boolean): ChatMessage {
  const { content, tool_calls: calls, reasoning_details: details, is_error: isError, ...rest } = message;
  const known = details?.filter((item) => isFields(item) && knowsReasoning(target, item['format']));
  return {
    ...rest,
    ...(content !== undefined && {
      content: keepsMarks || !Array.isArray(content) ? content : content.map(withoutMark),
    }),
    ...(calls && { tool_calls: takesLongNames(target) ? calls : calls.map(withShortName) }),
    ...(known && known.length > 0 && { reasoning_details: known }),
    ...(isError === true && takesErrorsInResults(target) && { is_error: true }),
  };
}

function withoutMark(part: ContentPart): ContentPart {
  if (part['cache_control'] === undefined) return part;
  const { cache_control: _mark, ...rest } = part as ContentPart & { readonly cache_control: unknown };
  return rest;
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
      const text = textOf(parts);
      const others = parts.filter((part) => !isText(part));
      for (const part of others) media.push(part);
      out.push({ ...message, content: others.length > 0 && text === '' ? ELSEWHERE : text });
    }
    if (role === 'tool' && messages[at + 1]?.role !== 'tool' && media.length > 0) {
      out.push({ role: 'user', content: media });
      media = [];
    }
  }
  return out;
}
