import {
  type ChatMessage,
  type ChatReply,
  type Fields,
  isFields,
  parseExactJson,
  type ReplyMessage,
  type ToolCall,
} from '../../host/contract/index.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { PipelineServices } from '../../host/pipeline/pipeline-services.ts';
import type { ToolServers } from '../../host/pipeline/tool-servers.ts';
import { contentOf, errorContent } from './tool-result.ts';

/** Calls of one turn that are run; the rest is dropped. See docs/mcp.md#the-loop. */
const MAX_CALLS = 64;

/** Calls of one turn that run at the same time at one server. */
const MAX_AT_ONCE = 8;

/** The tools that a loop may run: their servers, by name. */
export type OwnedTools = ReadonlyMap<string, string>;

const nameOf = (call: ToolCall): string => call.function.name ?? '';

/** The first message all of whose calls belong to the servers. */
export function messageToRun({ choices }: ChatReply, owned: OwnedTools): ReplyMessage | undefined {
  return choices.find(
    ({ message: { tool_calls: calls = [] } }) => calls.length > 0 && calls.every((call) => owned.has(nameOf(call))),
  )?.message;
}

/** An answer that may go on no longer: calls that the servers would run are taken out, those of the client's own tools stay. */
export function withoutOwnedCalls(reply: ChatReply, owned: OwnedTools): ChatReply {
  for (const choice of reply.choices) {
    const { tool_calls: calls = [], ...message } = choice.message;
    const kept = calls.filter((call) => !owned.has(nameOf(call)));
    if (kept.length === calls.length) continue;
    choice.message = kept.length > 0 ? { ...message, tool_calls: kept } : message;
    choice.finish_reason = 'length';
  }
  return reply;
}

interface CallDeps {
  readonly tools: ToolServers;
  readonly services: Pick<PipelineServices, 'counters'>;
}

/** Runs the calls of a message. Gives what the next turn is sent beside what was sent before: the message, and what came of each call. */
export async function runCalls(
  exchange: LiveExchange,
  message: ReplyMessage,
  owned: OwnedTools,
  deps: CallDeps,
): Promise<readonly ChatMessage[]> {
  const calls = (message.tool_calls ?? [])
    .slice(0, MAX_CALLS)
    .map(({ index: _index, ...call }, at): ToolCall => ({ ...call, id: call.id || `call_${exchange.id}_${at}` }));
  const contents = await contentsOf(calls, owned, (call) => contentOfCall(exchange, call, deps));
  const asked: ChatMessage = { ...message, role: message.role || 'assistant', tool_calls: calls };
  return [
    asked,
    ...calls.map(({ id }, at): ChatMessage => ({ role: 'tool', tool_call_id: id, content: contents[at] ?? '' })),
  ];
}

/** What came of each call, in their order, however long each takes. */
async function contentsOf(
  calls: readonly ToolCall[],
  owned: OwnedTools,
  run: (call: ToolCall) => Promise<string>,
): Promise<readonly string[]> {
  const contents = new Map<ToolCall, string>();
  await Promise.all(
    Map.groupBy(calls, (call) => owned.get(nameOf(call)))
      .values()
      .flatMap((ofServer) => {
        const waiting = ofServer.values();
        const lane = async (): Promise<void> => {
          for (const call of waiting) contents.set(call, await run(call));
        };
        return Array.from({ length: Math.min(MAX_AT_ONCE, ofServer.length) }, lane);
      }),
  );
  return calls.map((call) => contents.get(call) ?? '');
}

async function contentOfCall(
  exchange: LiveExchange,
  call: ToolCall,
  { tools, services: { counters } }: CallDeps,
): Promise<string> {
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
