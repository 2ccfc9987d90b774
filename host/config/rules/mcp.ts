import { canonicalJson } from '../canonical.ts';
import type { GatewayConfig, McpServerConfig } from '../document.ts';
import type { Problem } from '../problems.ts';
import type { ConfigRule, RuleContext } from './rule.ts';

function eachServer(
  id: string,
  check: (server: McpServerConfig, path: string, report: RuleContext['report'], index: number) => void,
): ConfigRule {
  return {
    id,
    check: ({ mcp_servers }, { report }) =>
      mcp_servers.forEach((server, index) => check(server, `mcp_servers[${index}]`, report, index)),
  };
}

const named = (server: McpServerConfig): string => `MCP server "${server.name ?? ''}"`;

export const mcpRules: readonly ConfigRule[] = [
  eachServer('CV27', (server, path, report, index) => {
    if ((server.name ?? '').trim() === '')
      report(`${path}.name`, `mcp_servers[${index}] has no name`, 'name the server');
  }),
  {
    id: 'CV28',
    check: ({ mcp_servers }, { report }) => {
      const seen = new Set<string>();
      mcp_servers.forEach(({ name = '' }, index) => {
        if (name.trim() !== '' && seen.has(name))
          report(`mcp_servers[${index}].name`, `two MCP servers are named "${name}"`, 'name each server differently');
        seen.add(name);
      });
    },
  },
  eachServer('CV29', (server, path, report) => {
    if (server.url && server.command)
      report(path, `${named(server)} has both url and command`, 'keep url for HTTP or command for stdio');
  }),
  eachServer('CV30', (server, path, report) => {
    if (!server.url && !server.command)
      report(path, `${named(server)} has neither url nor command`, 'write a url for HTTP or a command for stdio');
  }),
];

/** Servers that an admin write would have this machine run. Those that run already may be sent once more as they are. See docs/mcp.md#servers. */
export function newCommands({ mcp_servers: servers }: GatewayConfig, running: GatewayConfig | undefined): Problem[] {
  const known = new Set(running?.mcp_servers.map((server) => canonicalJson(server)));
  return servers.flatMap((server, index) => {
    if (!server.command || known.has(canonicalJson(server))) return [];
    return [
      {
        path: `mcp_servers[${index}].command`,
        rule: 'BV08',
        message: `${named(server)} would run a command that an admin write adds or changes`,
        fix: 'set GW_ADMIN_STDIO=true for the gateway, or write the server into its configuration file',
      },
    ];
  });
}
