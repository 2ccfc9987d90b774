import type { Fields } from '../contract/json/fields.ts';
import type { LiveExchange } from './live-exchange.ts';

/** A tool as its server lists it: what the protocol knows of it, and whatever else the server says. */
export interface ServerTool extends Fields {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: Fields;
}

/** A tool that can be called now, and the server that answers for its name. */
export interface OfferedTool {
  readonly server: string;
  readonly tool: ServerTool;
}

export interface ToolServerState {
  readonly name: string;
  readonly ready: boolean;
  readonly required: boolean;
  /** Why it is not ready; empty while it is. Redacted, and shown to administrators only. */
  readonly lastError: string;
}

/** What a server answered to a call: `isError` is the tool's own word, and no failure of the call. */
export interface ToolResult extends Fields {
  readonly content: readonly unknown[];
  readonly isError?: boolean;
}

/** One call of a tool on behalf of an exchange, which ends it when it is cancelled. */
export interface ToolCallRequest {
  readonly exchange: LiveExchange;
  readonly name: string;
  readonly arguments: Readonly<Fields>;
}

/** What may be said of a failed call to models and clients: nothing of the server itself. */
export type ToolFailure = 'the tool call failed' | 'the tool call timed out' | 'the tool server is unavailable';

export type ToolOutcome =
  /** Texts of the result are cut to the server's `max_result_bytes` already. */
  | { readonly kind: 'result'; readonly server: string; readonly result: ToolResult; readonly maxResultBytes: number }
  | { readonly kind: 'failed'; readonly server: string; readonly failure: ToolFailure }
  /** No ready server has a tool of this name. Nothing was called, and `toolCalled` does not hear of it. */
  | { readonly kind: 'unknown' };

/** The tool servers of one configuration: the hook `toolServers` of a generation gives them. */
export interface ToolServers {
  /** In the order of the configuration. */
  servers(): readonly ToolServerState[];
  /** Tools of the ready servers, in their order and that of their lists; of a name that several have, the first server's. */
  tools(): readonly OfferedTool[];
  /**
   * Calls the tool of this name at the first ready server that has it, within its own time limit. Rejects only with the cause of an
   * exchange that was cancelled: a call that fails is an outcome, and `toolCalled` hears of it with its reasons.
   */
  call(request: ToolCallRequest): Promise<ToolOutcome>;
}

/** One call of a tool that is over. Times are monotonic milliseconds. */
export interface ToolCallRun {
  readonly exchange: LiveExchange;
  readonly server: string;
  readonly tool: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** `error` also where the tool itself says `isError`. */
  readonly status: 'ok' | 'error';
  /** Why the call failed, in full: for logs and spans, never for clients. Not set by a tool that says `isError`. */
  readonly error: unknown;
  /** What a tool that says `isError` says. */
  readonly errorText: string | undefined;
}

/** One handshake with a tool server, over or failed. Times are monotonic milliseconds. */
export interface Handshake {
  readonly server: string;
  readonly startedAt: number;
  /** When `initialize` was answered; `undefined` where it was not. */
  readonly initializedAt: number | undefined;
  readonly endedAt: number;
  /** How many tools the server listed. */
  readonly tools: number | undefined;
  /** `undefined` where it is ready. */
  readonly error: unknown;
}
