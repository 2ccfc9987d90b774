import type { McpServerConfig } from '../document.ts';
import type { ConfigRule, RuleContext } from './rule.ts';

function eachServer(id: string, check: (server: McpServerConfig, path: string, report: RuleContext['report'], index: number) => void): ConfigRule {
  return {
    id,
    check: ({ mcp_servers }, { report }) => mcp_servers.forEach((server, index) => check(server, `mcp_servers[${index}]`, report, index)),
  };
}

const named = (server: McpServerConfig): string => `MCP server "${server.name ?? ''}"`;

export const mcpRules: readonly ConfigRule[] = [
  eachServer('CV27', (server, path, report, index) => {
    if ((server.name ?? '').trim() === '') report(`${path}.name`, `mcp_servers[${index}] has no name`, 'name the server');
  }),
  {
    id: 'CV28',
    check: ({ mcp_servers }, { report }) => {
      const seen = new Set<string>();
      mcp_servers.forEach(({ name = '' }, index) => {
        if (name.trim() !== '' && seen.has(name)) report(`mcp_servers[${index}].name`, `two MCP servers are named "${name}"`, 'name each server differently');
        seen.add(name);
      });
    },
  },
  eachServer('CV29', (server, path, report) => {
    if (server.url && server.command) report(path, `${named(server)} has both url and command`, 'keep url for HTTP or command for stdio');
  }),
  eachServer('CV30', (server, path, report) => {
    if (!server.url && !server.command) report(path, `${named(server)} has neither url nor command`, 'write a url for HTTP or a command for stdio');
  }),
];
