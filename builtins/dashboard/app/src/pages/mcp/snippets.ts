/** Where tools of this gateway are called. */
export const MCP_PATH = '/mcp';

/** What a client of the Model Context Protocol needs to know of this gateway, in the form that most of them read. */
export function clientSnippet(origin: string): string {
  return `${JSON.stringify({ mcpServers: { gw: { type: 'http', url: `${origin}${MCP_PATH}`, headers: { Authorization: 'Bearer <your API key>' } } } }, undefined, 2)}\n`;
}

export const SERVER_SNIPPET = `mcp_servers:
  - name: docs
    url: https://tools.example.com/mcp
    headers:
      Authorization: \${DOCS_TOKEN}
    required: false
`;
