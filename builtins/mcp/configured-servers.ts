import type { McpServerConfig } from '../../host/config/document.ts';
import type { Clock } from '../../host/common/clock.ts';
import type { GenerationHooks } from '../../host/pipeline/hooks.ts';
import type {
  OfferedTool,
  ServerTool,
  ToolCallRequest,
  ToolCallRun,
  ToolFailure,
  ToolOutcome,
  ToolResult,
  ToolServers,
  ToolServerState,
} from '../../host/pipeline/tool-servers.ts';
import type { ToolConnection } from './connection.ts';
import { ToolServerError, type Trouble } from './link/rpc.ts';
import { cutResult, errorTextOf } from './tool-result.ts';

const DEFAULT_MAX_RESULT_BYTES = 1024 * 1024;

/** Rounds of calls where no server says how many it allows. */
const DEFAULT_ROUNDS = 5;

/** What models and clients learn of a failed call. */
const FAILURES: Readonly<Record<Trouble, ToolFailure>> = {
  failed: 'the tool call failed',
  timeout: 'the tool call timed out',
  unavailable: 'the tool server is unavailable',
};

/** A server of a configuration: its connection, or why there can be none. */
export interface ConfiguredServer {
  readonly config: McpServerConfig;
  readonly connection: ToolConnection | string;
}

interface Deps {
  readonly hooks: Pick<GenerationHooks, 'toolCalled'>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

interface Owner {
  readonly config: McpServerConfig;
  readonly connection: ToolConnection;
}

/** The servers of one configuration, in its order: that is their priority. */
export class ConfiguredServers implements ToolServers {
  readonly #servers: readonly ConfiguredServer[];
  readonly #connected: readonly Owner[];
  readonly #deps: Deps;
  /** The lists that `#offered` was made of. */
  #lists: readonly (readonly ServerTool[])[] = [];
  #offered: readonly OfferedTool[] = [];

  constructor(servers: readonly ConfiguredServer[], deps: Deps) {
    this.#servers = servers;
    this.#connected = servers.flatMap(({ config, connection }) =>
      typeof connection === 'string' ? [] : [{ config, connection }],
    );
    this.#deps = deps;
  }

  /** Rounds of calls that one request may have: the least that a server allows, of those that could be registered at all. */
  get maxRounds(): number {
    const [least = DEFAULT_ROUNDS] = this.#connected
      .map(({ config }) => config.max_call_depth ?? 0)
      .filter((depth) => depth > 0)
      .toSorted((a, b) => a - b);
    return least;
  }

  servers(): readonly ToolServerState[] {
    return this.#servers.map(({ config: { name = '', required = false }, connection }) => ({
      name,
      required,
      ready: typeof connection !== 'string' && connection.isReady,
      lastError: typeof connection === 'string' ? connection : connection.lastError,
    }));
  }

  tools(): readonly OfferedTool[] {
    const isSame =
      this.#lists.length === this.#connected.length &&
      this.#connected.every(({ connection }, at) => connection.tools === this.#lists[at]);
    if (isSame) return this.#offered;
    this.#lists = this.#connected.map(({ connection }) => connection.tools);
    const byName = new Map<string, OfferedTool>();
    for (const {
      config: { name: server = '' },
      connection,
    } of this.#connected) {
      for (const tool of connection.tools) if (!byName.has(tool.name)) byName.set(tool.name, { server, tool });
    }
    return (this.#offered = [...byName.values()]);
  }

  async call({ exchange, name, arguments: args }: ToolCallRequest): Promise<ToolOutcome> {
    const owner = this.#connected.find(({ connection }) => connection.tools.some((tool) => tool.name === name));
    if (!owner) return { kind: 'unknown' };
    const {
      connection,
      config: { name: server = '', max_result_bytes: configured = 0 },
    } = owner;
    const maxResultBytes = configured > 0 ? configured : DEFAULT_MAX_RESULT_BYTES;
    const startedAt = this.#deps.clock.monotonic();
    const end = (status: ToolCallRun['status'], error: unknown, errorText?: string): void => {
      this.#deps.hooks.toolCalled.call({
        exchange,
        server,
        tool: name,
        startedAt,
        endedAt: this.#deps.clock.monotonic(),
        status,
        error,
        errorText,
      });
    };
    let result: ToolResult;
    try {
      result = cutResult(await connection.call(name, args, exchange.cancellation), maxResultBytes);
    } catch (error) {
      end('error', error);
      if (!(error instanceof ToolServerError)) throw error;
      return { kind: 'failed', server, failure: FAILURES[error.trouble] };
    }
    end(result.isError === true ? 'error' : 'ok', undefined, result.isError === true ? errorTextOf(result) : undefined);
    return { kind: 'result', server, result, maxResultBytes };
  }
}
