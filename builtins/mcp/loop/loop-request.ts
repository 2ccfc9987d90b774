import type { ChatRequest, ChatTool } from '../../../host/contract/index.ts';
import type { GenerationHooks } from '../../../host/pipeline/hooks.ts';
import type { PipelineServices } from '../../../host/pipeline/pipeline-services.ts';
import type { OfferedTool, ToolServers } from '../../../host/pipeline/tool-servers.ts';
import type { TurnRequest } from '../../../host/pipeline/turns/turn.ts';
import type { OwnedTools } from '../tool-calls.ts';

export interface LoopDeps {
  readonly hooks: GenerationHooks;
  readonly services: PipelineServices;
  readonly tools: ToolServers;
  /** Rounds of calls that one request may have: one more turn than these. */
  readonly maxRounds: number;
}

/** What a loop needs of its request: what plugins see of it, the tools that are sent with it, and which of them are the servers'. */
export interface LoopRequest {
  readonly request: ChatRequest;
  readonly injected: readonly ChatTool[];
  readonly owned: OwnedTools;
}

/** A plugin's tool of the same name stands. */
export function loopRequest(
  { stream: _stream, stream_options: _options, ...request }: ChatRequest,
  offered: readonly OfferedTool[],
): LoopRequest {
  const taken = new Set(request.tools?.map((tool) => tool.function?.name));
  const used = offered.filter(({ tool }) => !taken.has(tool.name));
  const injected = used.map(({ tool: { name, description, inputSchema } }): ChatTool => ({
    type: 'function',
    function: { name, ...(description !== undefined && { description }), parameters: inputSchema },
  }));
  return { request, injected, owned: new Map(used.map(({ server, tool }) => [tool.name, server])) };
}

/** What is sent of the request that plugins see; a target that takes no tools gets that request as it is. */
export function withTools(
  request: ChatRequest,
  injected: readonly ChatTool[],
): Pick<TurnRequest, 'request' | 'withoutTools'> {
  return { request: { ...request, tools: [...(request.tools ?? []), ...injected] }, withoutTools: request };
}
