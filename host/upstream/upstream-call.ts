/** What a call to a provider is, and where its reply goes. */
import type { Duplex } from 'node:stream';
import type { GatewayError, OutgoingRequest } from '../contract/index.ts';
import type { Cancellation } from './cancellation.ts';
import type { Way } from './egress/way.ts';

export type ReplyHeaders = Readonly<Record<string, string>>;

/** Steers a reply that is arriving. */
export interface ReplyControl {
  pause(): void;
  resume(): void;
  /** Closes the connection; nothing is called back any more. */
  abort(): void;
  /** Headers as they came: name, value, name, value. Absent of a reply that was made by hand. */
  rawHeaders?(): readonly string[];
}

/** Where a reply goes, in this order: `onReply` once, `onData` any number of times, then `onEnd` or `onError` once. */
export interface ReplySink {
  onReply(status: number, headers: ReplyHeaders, control: ReplyControl): void;
  onData(bytes: Buffer): void;
  onEnd(): void;
  onError(error: GatewayError): void;
  /** In the place of `onReply` and what follows it, when the upstream takes up the protocol that the call asks for. The socket is the sink's from then on. */
  onUpgrade?(status: number, headers: ReplyHeaders, control: ReplyControl, socket: Duplex): void;
}

/** How a call of a declared instance leaves, and who hears that its address is refused. */
export interface EgressOfCall {
  readonly way: Way;
  addressRefused(host: string): void;
}

export interface UpstreamCall {
  readonly request: OutgoingRequest;
  readonly cancellation: Cancellation;
  /** How the calls of a declared instance leave; `undefined` for all others. */
  readonly egress?: EgressOfCall | undefined;
  /** Milliseconds to connect, where no connection is free. */
  readonly connectTimeoutMs: number;
  /** Milliseconds to the response headers; 0 means no limit. */
  readonly headersTimeoutMs: number;
  /** Longest silence of the body, in milliseconds; unless said, 5 minutes where the headers are bounded, and none where they are not. */
  readonly bodyIdleMs?: number;
  /** The body is wanted as it came, whatever its encoding. */
  readonly isVerbatim?: boolean;
  /** Another protocol that the connection is asked to speak from then on. */
  readonly upgrade?: string | undefined;
  /** Where the status of the reply is noted. */
  readonly noted?: { status: number | undefined };
  /** Called with it. */
  readonly onReply?: ((status: number) => void) | undefined;
}

export interface CollectedReply {
  readonly status: number;
  readonly headers: ReplyHeaders;
  readonly body: Buffer;
}
