import type { CallInfo, ChatChunk, ChatRequest, ChunkEdit, UnaryReply } from 'gw/contract';
import { addAll, type Citation, type Fields, isFields, isGiven, urlCitations } from 'gw/common-wire';

/**
 * Tools that the vendor runs by itself (web search and others) make an answer of several messages: calls of the
 * assistant, what the tools said, and at last the text. Source: Mistral documentation, "Using connectors in chat
 * completions"; @mistralai/mistralai 2.7.0, ChatCompletionChoice and DeltaMessage; 2026-11-22.
 */
function runsTools({ tools, web_search_options: search }: ChatRequest): boolean {
  return isGiven(search) || (Array.isArray(tools) && tools.some(({ type }) => type !== 'function'));
}

/** The reply with one message in each choice, as the common wire has it, and with the sources it names. */
export function withOneMessage(reply: UnaryReply, request: ChatRequest): UnaryReply {
  if (!runsTools(request)) return reply;
  const { status, headers, body } = reply;
  return { status, headers, body, json: () => readAnswer(reply.json(), request) };
}

function readAnswer(answer: unknown, request: ChatRequest): unknown {
  const choices: unknown = isFields(answer) ? answer['choices'] : undefined;
  if (!isFields(answer) || !Array.isArray(choices)) return answer;
  return {
    ...answer,
    choices: choices.filter(isFields).map(({ messages, message, ...choice }) => ({
      ...choice,
      message: oneMessage(Array.isArray(messages) ? messages : [message], request),
    })),
  };
}

/** What the assistant says and calls in all messages; what its tools said stays behind. */
function oneMessage(messages: readonly unknown[], request: ChatRequest): Fields | undefined {
  const own = messages.filter(isFields).filter(({ role }) => role !== 'tool');
  if (own.length === 0) return undefined;
  const parts = own.flatMap(({ content }) => partsOf(content));
  const calls = own.flatMap(({ tool_calls: given }) => callsOfClient(given, request));
  const sources = urlCitations(parts.flatMap(sourcesOf));
  return {
    role: 'assistant',
    content: parts,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(sources.length > 0 && { annotations: sources }),
  };
}

function partsOf(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isFields) : [];
}

function sourcesOf({ type, url, title }: Fields): readonly Citation[] {
  return type === 'tool_reference' && typeof url === 'string' && url !== '' ? [{ url, title }] : [];
}

/** Calls of functions that the client named; the others the vendor has answered itself. */
function callsOfClient(calls: unknown, { tools }: ChatRequest): readonly Fields[] {
  const names = new Set((tools ?? []).map((tool) => tool.function?.name));
  return (Array.isArray(calls) ? calls : [])
    .filter(isFields)
    .filter(({ function: target }) => isFields(target) && names.has(target['name'] as string));
}

/** Changes the chunks of a stream to one message; sources leave with the end, where clients that keep the last list find them all. */
export function editStream(_call: CallInfo, request: ChatRequest): ChunkEdit | undefined {
  if (!runsTools(request)) return undefined;
  const streams = new Map<unknown, StreamedAnswer>();
  return (chunk: ChatChunk) => {
    const choices: unknown = chunk.choices;
    for (const choice of (Array.isArray(choices) ? choices : []).filter(isFields)) {
      const stream = streams.get(choice['index']) ?? { tools: new Set(), sources: [] };
      streams.set(choice['index'], stream);
      if (isFields(choice['delta'])) editDelta(choice['delta'], stream, request, isGiven(choice['finish_reason']));
    }
  };
}

interface StreamedAnswer {
  /** Indices of messages that hold what a tool returned. */
  readonly tools: Set<unknown>;
  readonly sources: Citation[];
}

function editDelta(
  delta: Record<string, unknown>,
  { tools, sources }: StreamedAnswer,
  request: ChatRequest,
  isLast: boolean,
): void {
  const { index, role, content, tool_calls: calls } = delta;
  if (role === 'tool') tools.add(index);
  else if (typeof role === 'string') tools.delete(index);
  if (tools.has(index)) delete delta['content'];
  else addAll(sources, partsOf(content).flatMap(sourcesOf));
  if (calls !== undefined) delta['tool_calls'] = callsOfClient(calls, request);
  for (const name of ['index', 'tool_call_id', 'metadata']) delete delta[name];
  if (isLast && sources.length > 0) delta['annotations'] = urlCitations(sources);
}
