import { type ChatMessage, type ChatReply, type Fields, isFields, parseExactJson, type ReplyMessage, type ToolCall } from '../../host/contract/index.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import type { ToolServers } from '../../host/pipeline/tool-servers.ts';
import { contentOf, errorContent } from './tool-result.ts';

/** Calls of one turn that are run; the rest is dropped. Source: data-plane reference 12.6. */
const MAX_CALLS = 64;

/** Calls of one turn that run at the same time at one server. */
const MAX_AT_ONCE = 8;

/** The tools that a loop may run: their servers, by name. */
export type OwnedTools = ReadonlyMap<string, string>;

const nameOf = (call: ToolCall): string => call.function.name ?? '';

/** The first message all of whose calls belong to the servers. */
export function messageToRun({ choices }: ChatReply, owned: OwnedTools): ReplyMessage | undefined {
  return choices.find(({ message: { tool_calls: calls = [] } }) => calls.length > 0 && calls.every((call) => owned.has(nameOf(call))))?.message;
}

/** An answer that may go on no longer: calls that the servers would run are taken out, those of the client's own tools stay. */
export function withoutOwnedCalls(reply: ChatReply, owned: OwnedTools): ChatReply {
  for (const choice of reply.choices) {
    const { tool_calls: calls = [], ...message } = choice.message;
    const kept = calls.filter((call) => !owned.has(nameOf(call)));
    if (kept.length === calls.length) continue;
    choice.message = (kept.length > 0 ? { ...message, tool_calls: kept } : message) as ReplyMessage;
    choice.finish_reason = 'length';
  }
  return reply;
}

interface CallDeps {
  readonly tools: ToolServers;
  readonly services: Pick<PipelineServices, 'counters'>;
}

/** Runs the calls of a message. Gives what the next turn is sent beside what was sent before: the message, and what came of each call. */
export async function runCalls(exchange: LiveExchange, message: ReplyMessage, owned: OwnedTools, deps: CallDeps): Promise<readonly ChatMessage[]> {
  const calls = (message.tool_calls ?? []).slice(0, MAX_CALLS).map(({ index: _index, ...call }, at): ToolCall => ({ ...call, id: call.id || `call_${exchange.id}_${at}` }));
  const contents = new Array<string>(calls.length).fill('');
  const byServer = Map.groupBy(calls.keys(), (at) => owned.get(nameOf(calls[at] as ToolCall)));
  await Promise.all(byServer.values().map((places) => {
    const waiting = places.values();
    const lane = async (): Promise<void> => {
      for (const at of waiting) contents.splice(at, 1, await contentOfCall(exchange, calls[at] as ToolCall, deps));
    };
    return Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, places.length) }, lane));
  }));
  const asked: ChatMessage = { ...message, role: message.role || 'assistant', tool_calls: calls };
  return [asked, ...calls.map(({ id }, at): ChatMessage => ({ role: 'tool', tool_call_id: id, content: contents[at] ?? '' }))];
}

async function contentOfCall(exchange: LiveExchange, call: ToolCall, { tools, services: { counters } }: CallDeps): Promise<string> {
  const name = nameOf(call);
  const args = argumentsOf(call);
  if (!args) return errorContent('the arguments of the call are not a JSON object');
  const outcome = await tools.call({ exchange, name, arguments: args });
  if (outcome.kind === 'result') return contentOf(outcome.result, outcome.maxResultBytes);
  if (outcome.kind === 'failed') return errorContent(outcome.failure);
  counters.add('gw_mcp_unknown_tool_calls_total', { tool_name: name });
  return errorContent(`the tool "${name}" was not found`);
}

/** None count as an empty object; `undefined` where they are not an object. Digits of large numbers stay as the model wrote them. */
function argumentsOf({ function: { arguments: text } }: ToolCall): Fields | undefined {
  if (text === undefined || text.trim() === '') return {};
  try {
    const value = parseExactJson(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
