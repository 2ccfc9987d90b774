import type { BuiltinModule } from '../../../host/builtin.ts';
import { defineBuiltin } from '../../../host/builtin.ts';
import type {
  OfferedTool,
  ToolCallRequest,
  ToolOutcome,
  ToolServers,
  ToolServerState,
} from '../../../host/pipeline/tool-servers.ts';
import { type Answer, startHost, type TestHost, type TestHostOptions } from '../../kit/index.ts';

export interface MadeUpTool {
  readonly server?: string;
  readonly name: string;
  readonly more?: object;
  /** What it answers; its arguments as text unless said. */
  readonly call?: (request: ToolCallRequest) => ToolOutcome | Promise<ToolOutcome>;
}

/** Tool servers that a test makes up, in the place of connections. */
export interface MadeUpServers {
  tools: readonly MadeUpTool[];
  states: readonly ToolServerState[];
  readonly calls: ToolCallRequest[];
}

export const result = (content: readonly unknown[], more: object = {}): ToolOutcome => ({
  kind: 'result',
  server: 's',
  maxResultBytes: 1024,
  result: { content, ...more },
});
export const text = (words: string): object => ({ type: 'text', text: words });

function builtinOf(servers: MadeUpServers): BuiltinModule {
  const found: ToolServers = {
    servers: () => servers.states,
    tools: () =>
      servers.tools.map(({ server = 's', name, more }): OfferedTool => ({
        server,
        tool: { name, inputSchema: { type: 'object' }, ...more },
      })),
    call: async (request) => {
      servers.calls.push(request);
      const tool = servers.tools.find(({ name }) => name === request.name);
      if (!tool) return { kind: 'unknown' };
      return tool.call ? tool.call(request) : result([text(JSON.stringify(request.arguments))]);
    },
  };
  return defineBuiltin({
    name: 'made-up-tool-servers',
    apply: ({ hooks }) =>
      hooks.assemble.tapPromise('made-up-tool-servers', async ({ hooks: pipeline }) => {
        pipeline.toolServers.tap('made-up-tool-servers', () => found);
      }),
  });
}

export interface McpHost extends TestHost {
  readonly servers: MadeUpServers;
  /** One request with the headers that clients of the protocol send. */
  rpc(method: string, params?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Calls a tool, and gives its result or the error. */
  call(name: string, args?: object, headers?: Record<string, string>): Promise<any>;
}

export const ACCEPT = { accept: 'application/json, text/event-stream' };

/** A gateway with made-up tools. */
export async function startMcp(
  tools: readonly MadeUpTool[] = [{ name: 'echo' }],
  config: object = {},
  options: TestHostOptions = {},
): Promise<McpHost> {
  const servers: MadeUpServers = { tools, states: [], calls: [] };
  const host = await startHost(
    { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }], ...config },
    { ...options, builtins: [builtinOf(servers), ...(options.builtins ?? [])] },
  );
  let id = 0;
  const rpc = (method: string, params?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    id += 1;
    return host.post(
      '/mcp',
      { jsonrpc: '2.0', id, method, ...(params !== undefined && { params }) },
      { ...ACCEPT, ...headers },
    );
  };
  return {
    ...host,
    servers,
    rpc,
    call: async (name, args = {}, headers = {}) => {
      const answer = (await rpc('tools/call', { name, arguments: args }, headers)).json();
      return answer.result ?? answer.error;
    },
  };
}

/** Makes a key, and gives its header. */
export async function keyWith(
  host: TestHost,
  limits: object,
  scopes: readonly string[] = ['read_only'],
): Promise<Record<string, string>> {
  const made = await host.post('/admin/keys', { name: 'k', scopes, ...limits });
  return { authorization: `Bearer ${made.json().key}` };
}
