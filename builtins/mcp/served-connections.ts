import { GatewayError } from '../../host/contract/index.ts';
import type { ToolResult } from '../../host/pipeline/tool-servers.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import type { PrimaryTeam, Seat } from '../../host/workers/team.ts';
import type { ToolConnection } from './connection.ts';
import { ToolServerError } from './link/rpc.ts';
import {
  connectionName,
  type ConnectionState,
  type NamedState,
  type RemoteCall,
  TOOL_TOPIC,
} from './remote-connections.ts';

/** Lets workers use the connections of the primary: they hear of each change, and their calls are made here. */
export class ServedConnections {
  readonly #team: PrimaryTeam;
  readonly #live = new Map<string, ToolConnection>();
  readonly #calls = new Map<Seat, Map<number, Cancellation>>();

  constructor(team: PrimaryTeam) {
    this.#team = team;
    team.on(TOOL_TOPIC.states, (name) => this.#stateOf(String(name)));
    team.on(TOOL_TOPIC.call, (value, seat) => this.#call(value as RemoteCall, seat));
    team.on(TOOL_TOPIC.leave, (number, seat) => this.#calls.get(seat)?.get(Number(number))?.cancel(left()));
    team.onGone((seat) => {
      for (const cancellation of this.#calls.get(seat)?.values() ?? []) cancellation.cancel(left());
      this.#calls.delete(seat);
    });
  }

  serve(key: string, connection: ToolConnection): void {
    this.#live.set(connectionName(key), connection);
  }

  forget(key: string): void {
    this.#live.delete(connectionName(key));
  }

  changed(key: string): void {
    const name = connectionName(key);
    const state = this.#stateOf(name);
    if (state) this.#team.tellAll(TOOL_TOPIC.state, { name, state } satisfies NamedState);
  }

  #stateOf(name: string): ConnectionState | undefined {
    const connection = this.#live.get(name);
    return connection && { isReady: connection.isReady, tools: connection.tools, lastError: connection.lastError };
  }

  async #call({ name, number, tool, arguments: args }: RemoteCall, seat: Seat): Promise<ToolResult> {
    const connection = this.#live.get(name);
    if (!connection) throw new ToolServerError('unavailable', 'it is closed');
    const calls = this.#calls.get(seat) ?? new Map<number, Cancellation>();
    this.#calls.set(seat, calls);
    const cancellation = new Cancellation();
    calls.set(number, cancellation);
    try {
      return await connection.call(tool, args, cancellation);
    } finally {
      calls.delete(number);
    }
  }
}

const left = (): GatewayError => new GatewayError('client_canceled', 'the request that asked for the call has ended');
