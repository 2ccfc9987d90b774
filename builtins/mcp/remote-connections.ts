import { hash } from 'node:crypto';
import { canonicalJson } from '../../host/config/canonical.ts';
import type { McpServerConfig } from '../../host/config/document.ts';
import type { Carryover, Fields } from '../../host/contract/index.ts';
import type { ServerTool, ToolResult } from '../../host/pipeline/tool-servers.ts';
import type { Cancellation } from '../../host/upstream/cancellation.ts';
import type { Channel } from '../../host/workers/channel.ts';
import { RemoteError } from '../../host/workers/wire-errors.ts';
import type { ToolConnection } from './connection.ts';
import { ToolServerError, type Trouble } from './link/rpc.ts';

export const TOOL_TOPIC = {
  state: 'tools.state',
  states: 'tools.states',
  call: 'tools.call',
  leave: 'tools.leave',
} as const;

/** A server as the primary has it. */
export interface ConnectionState {
  readonly isReady: boolean;
  readonly tools: readonly ServerTool[];
  readonly lastError: string;
}

export interface NamedState {
  readonly name: string;
  readonly state: ConnectionState;
}

/** A call of a tool on behalf of a worker. Its number is that of the worker. */
export interface RemoteCall {
  readonly name: string;
  readonly number: number;
  readonly tool: string;
  readonly arguments: Readonly<Fields>;
}

/** What a server is known by between processes: its block of the configuration may hold secrets. */
export const connectionName = (key: string): string => hash('sha256', key);

const NOT_KNOWN: ConnectionState = { isReady: false, tools: [], lastError: 'the handshake is not over yet' };

/** The connections of the primary, as a worker uses them: it opens none itself. */
export class RemoteConnections {
  readonly #channel: Channel;
  readonly #live = new Map<string, RemoteConnection>();
  #number = 0;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.on(TOOL_TOPIC.state, (value) => {
      const { name, state } = value as NamedState;
      this.#live.get(name)?.take(state);
    });
  }

  lease(server: McpServerConfig, carryover: Carryover): ToolConnection | string {
    const key = `mcp server ${canonicalJson(server)}`;
    const name = connectionName(key);
    return carryover.lease(
      key,
      () => {
        const connection = new RemoteConnection(name, this.#channel, () => (this.#number += 1));
        this.#live.set(name, connection);
        void this.#read(name);
        return connection;
      },
      () => void this.#live.delete(name),
    );
  }

  async #read(name: string): Promise<void> {
    const state = await this.#channel.ask<ConnectionState | undefined>(TOOL_TOPIC.states, name).catch(() => undefined);
    if (state) this.#live.get(name)?.take(state);
  }
}

class RemoteConnection implements ToolConnection {
  readonly #name: string;
  readonly #channel: Channel;
  readonly #nextNumber: () => number;
  #state = NOT_KNOWN;

  constructor(name: string, channel: Channel, nextNumber: () => number) {
    this.#name = name;
    this.#channel = channel;
    this.#nextNumber = nextNumber;
  }

  get isReady(): boolean {
    return this.#state.isReady;
  }

  get tools(): readonly ServerTool[] {
    return this.#state.tools;
  }

  get lastError(): string {
    return this.#state.lastError;
  }

  take(state: ConnectionState): void {
    this.#state = state;
  }

  async call(tool: string, args: Readonly<Fields>, cancellation: Cancellation): Promise<ToolResult> {
    const number = this.#nextNumber();
    const call: RemoteCall = { name: this.#name, number, tool, arguments: args };
    const stop = cancellation.onCancel(() => this.#channel.tell(TOOL_TOPIC.leave, number));
    try {
      return await cancellation.race(this.#channel.ask<ToolResult>(TOOL_TOPIC.call, call));
    } catch (error) {
      if (!(error instanceof RemoteError)) throw error;
      throw new ToolServerError((error.word as Trouble | undefined) ?? 'unavailable', error.message);
    } finally {
      stop();
    }
  }
}
