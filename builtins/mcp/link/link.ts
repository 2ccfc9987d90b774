import type { Fields } from '../../../host/contract/index.ts';
import type { Cancellation } from '../../../host/upstream/cancellation.ts';
import type { ToolServerError } from './rpc.ts';

/** One request to a tool server. */
export interface LinkCall {
  readonly method: string;
  readonly params?: Readonly<Fields>;
  readonly limitMs: number;
  /** Ends the wait early; it rejects with the cause then. */
  readonly cancellation?: Cancellation | undefined;
}

/** A way to one tool server, from its opening to its end: a lost one is replaced by another. */
export interface Link {
  /** Rejects with a `ToolServerError`, or with the cause of its cancellation. */
  request(call: LinkCall): Promise<Fields>;
  /** Sends something that is not answered; that it does not arrive is ignored. */
  notify(method: string, params?: Readonly<Fields>): void;
  /** Whether a server that answers with an unknown version is used all the same. */
  readonly takesAnyVersion: boolean;
  /** What both sides have agreed on. */
  useVersion(version: string): void;
  /** The handshake is over. */
  begin(): void;
  /** Ends it in the server's own time, within some seconds. */
  close(): Promise<void>;
  /** Ends it now. */
  kill(): void;
}

/** What a link reports. After `onLost`, which comes once at most, nothing follows. */
export interface LinkEvents {
  readonly onListChanged: () => void;
  readonly onLost: (error: ToolServerError) => void;
}
