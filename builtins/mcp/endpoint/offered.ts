import type { KeyLimits } from '../../../host/common/host-principal.ts';
import type { RunningGeneration } from '../../../host/pipeline/running-generation.ts';
import type { OfferedTool } from '../../../host/pipeline/tool-servers.ts';
import { usable, usableTools } from '../tool-access.ts';

type Serving = Pick<RunningGeneration, 'hooks'> | undefined;

/** The tools that a key may call now. */
export function offeredTo(generation: Serving, limits: KeyLimits | undefined): readonly OfferedTool[] {
  return usableTools(toolsOf(generation), limits?.mcp_tools);
}

export function findTool(generation: Serving, limits: KeyLimits | undefined, name: string): OfferedTool | undefined {
  const found = toolsOf(generation).find(({ tool }) => tool.name === name);
  return found && usable(limits?.mcp_tools)(found) ? found : undefined;
}

const toolsOf = (generation: Serving): readonly OfferedTool[] => generation?.hooks.toolServers.call()?.tools() ?? [];
