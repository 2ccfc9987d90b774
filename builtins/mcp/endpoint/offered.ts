import type { Principal } from '../../../host/contract/index.ts';
import { mayCall } from '../../../host/pipeline/key-access.ts';
import type { RunningGeneration } from '../../../host/pipeline/running-generation.ts';
import type { OfferedTool } from '../../../host/pipeline/tool-servers.ts';

type Serving = Pick<RunningGeneration, 'hooks'> | undefined;

/** The tools that a key may call now. */
export function offeredTo(generation: Serving, principal: Principal | undefined): readonly OfferedTool[] {
  const tools = generation?.hooks.toolServers.call()?.tools() ?? [];
  const limits = principal?.limits;
  return limits?.mcp_tools ? tools.filter(({ server, tool }) => mayCall(limits, server, tool.name)) : tools;
}

export function findTool(generation: Serving, principal: Principal | undefined, name: string): OfferedTool | undefined {
  return offeredTo(generation, principal).find(({ tool }) => tool.name === name);
}
