import type { ChatChunk, Exchange } from '../contract/index.ts';
import type { ClientFailure } from './client-failure.ts';
import type { KnownFrames } from './known-frames.ts';

/** The body of an answer, ready to be sent. */
export interface WireBody {
  readonly contentType: string;
  readonly body: string;
}

/**
 * A format that clients speak, as the gateway writes it: what fails, what is answered whole, and what is streamed. How its
 * requests are read stands with their surface. It is chosen by the path of a request, before anything can be answered
 * (`ClientWires`), and status, headers and redaction are the same on every wire.
 */
export interface ClientWire {
  /** Whether its clients, where they bring no tools of their own, are answered with the help of the gateway's tool servers. */
  readonly runsTools?: boolean;
  /** An answer that is an error, on any path of the wire. */
  error(failure: ClientFailure): WireBody;
  /** The same where no route serves the path. */
  noRoute(failure: ClientFailure): WireBody;
  /** A whole answer: the value whose JSON is sent. `exchange.reply` is in the common wire. */
  reply(exchange: Exchange): unknown;
  /** Opens a streamed answer. Called once per attempt: nothing of a failed one stays. */
  openStream(exchange: Exchange): ClientStream;
}

/**
 * Writes one streamed answer: the twin of a provider's stream decoder. What it returns are byte strings (one character per
 * byte), and may be empty for a chunk; `end` and `error` close the body and so always write something.
 */
export interface ClientStream {
  readonly contentType: string;
  /**
   * Where a chunk of the common wire is what clients get: its lines may leave as they came, without being written again.
   * `undefined` has every chunk go through `chunk`.
   */
  readonly frames: KnownFrames | undefined;
  chunk(chunk: ChatChunk): string;
  /** Ends an answer that is complete. */
  end(): string;
  /** Ends an answer that broke off after it had begun. */
  error(failure: ClientFailure): string;
}
