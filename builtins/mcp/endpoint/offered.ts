import type { HostPrincipal } from '../../../host/common/host-principal.ts';
import type { RunningGeneration } from '../../../host/pipeline/running-generation.ts';
import type { OfferedTool } from '../../../host/pipeline/tool-servers.ts';
import { mayUse } from '../tool-access.ts';

type Serving = Pick<RunningGeneration, 'hooks'> | undefined;

/** The tools that a key may call now. */
export function offeredTo(generation: Serving, principal: HostPrincipal | undefined): readonly OfferedTool[] {
  const tools = generation?.hooks.toolServers.call()?.tools() ?? [];
  const allowed = principal?.limits?.mcp_tools;
  return allowed ? tools.filter(({ server, tool }) => mayUse(allowed, server, tool.name)) : tools;
}

export function findTool(
  generation: Serving,
  principal: HostPrincipal | undefined,
  name: string,
): OfferedTool | undefined {
  return offeredTo(generation, principal).find(({ tool }) => tool.name === name);
}
