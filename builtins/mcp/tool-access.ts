/**
 * Whether a key may use a tool: its `mcp_tools` lists names of tools, and `<server>/*` for all of a server; a key without a list
 * may use all. See docs/mcp.md#the-gateway-as-a-tool-server.
 */
export function mayUse(allowed: readonly string[] | undefined, server: string, tool: string): boolean {
  return allowed === undefined || allowed.includes(tool) || allowed.includes(`${server}/*`);
}
