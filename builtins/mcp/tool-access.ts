import type { OfferedTool } from '../../host/pipeline/tool-servers.ts';

/**
 * Whether a key may use a tool: its `mcp_tools` lists names of tools, and `<server>/*` for all of a server; a key without a list
 * may use all. See docs/mcp.md#the-gateway-as-a-tool-server.
 */
export function usable(allowed: readonly string[] | undefined): (offered: OfferedTool) => boolean {
  if (!allowed) return () => true;
  const names = new Set(allowed);
  return ({ server, tool }) => names.has(tool.name) || names.has(`${server}/*`);
}

/** Tools that a key may use. */
export function usableTools(
  offered: readonly OfferedTool[],
  allowed: readonly string[] | undefined,
): readonly OfferedTool[] {
  return allowed ? offered.filter(usable(allowed)) : offered;
}
