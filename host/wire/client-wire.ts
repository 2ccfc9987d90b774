import type { ClientBody } from '../contract/text/client-body.ts';
import type { ChatChunk, Exchange, Fields, StreamEvent } from '../contract/index.ts';
import type { ClientFailure } from './client-failure.ts';
import type { PieceForm } from '../upstream/event-runs.ts';
import type { KnownFrames } from './known-frames.ts';

/** The body of an answer, ready to be sent. */
export interface WireBody {
  readonly contentType: string;
  readonly body: string;
}

/** Where a request may carry its credential. */
export type CredentialPlace =
  /** `Authorization`, with the scheme `Bearer`. */
  | 'bearer'
  /** A header that holds nothing else, by its lower-case name. */
  | { readonly header: string }
  /** A parameter of the query. It is taken out of the address before anything else sees that. */
  | { readonly query: string };

/**
 * A format that clients speak, as the gateway writes it: what fails, what is answered whole, and what is streamed. How its
 * requests are read stands with their surface. It is chosen by the path of a request, before anything can be answered
 * (`ClientWires`), and status, headers and redaction are the same on every wire.
 */
export interface ClientWire {
  /** Whether its clients, where they bring no tools of their own, are answered with the help of the gateway's tool servers. */
  readonly runsTools?: boolean;
  /** Whether a tool call that the upstream gave no id gets one before it is written: other wires have forms of their own, or need none. */
  readonly needsCallIds?: boolean;
  /** An answer that is an error, on any path of the wire. */
  error(failure: ClientFailure): WireBody;
  /** The error where no route serves the path. */
  noRoute(failure: ClientFailure): WireBody;
  /** A whole answer: the value whose JSON is sent. `exchange.reply` is in the common wire. */
  reply(exchange: Exchange): unknown;
  /** Opens a streamed answer. Called once per attempt: nothing of a failed one stays. */
  openStream(exchange: Exchange): ClientStream;
  /** Whether a stream that was asked for and failed before it began is answered as one, with status 200: its clients read the error only there. */
  failsInStream?(failure: ClientFailure): boolean;
  /** Opens a stream of events beside chat, which come as clients read them: it writes no more than why they break off. Absent on wires without such streams. */
  openEvents?(): ClientStream;
  /** Opens a stream for an answer that comes in this wire already: its events go on as they are. */
  openSameWire?(exchange: Exchange): SameWireStream;
  /** This wire as it is spoken at one address, its query included; absent where that is all the same. */
  at?(url: string): ClientWire;
  /** Where its clients carry their credential, in the order in which it is looked for: the first that is valid counts. `bearer` alone unless said. */
  readonly credentials?: readonly CredentialPlace[];
  /** False where an answer of 401 names no scheme (`WWW-Authenticate`). */
  readonly namesScheme?: false;
  /** Headers of every answer: name, value, name, value. */
  headers?(requestId: string): readonly string[];
  /** Further ones of an answer that is an error. */
  errorHeaders?(failure: ClientFailure): readonly string[];
}

/** For how long nothing was written to a client. */
export interface Silence {
  /** An event of the answer has left. */
  readonly hasBegun: boolean;
  /** Another minute without an event is over. */
  readonly isMinute: boolean;
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
  /** Bytes that say that the answer goes on, sent between two whole events while nothing else is. See docs/proxies.md#keep-alives. */
  keepAlive(silence: Silence): string;
  /** A line that is not an event, where clients of the wire skip such lines. The text is printable ASCII. */
  comment?(text: string): string;
  chunk(chunk: ChatChunk): string;
  /** Ends an answer that is complete. */
  end(): string;
  /** Ends an answer that broke off after it had begun; `isFirst` where nothing of it has left, because it waited for a verdict. */
  error(failure: ClientFailure, isFirst?: boolean): string;
}

/** What an event says in parts of the answer that only its vendor has: all at once, or a piece of a text that grows with its block. */
export type Aside =
  | { readonly body: ClientBody }
  | { readonly block: number; readonly text: string; readonly isLast: boolean };

/** One of the texts of an event that guards hold back: the piece that the event brings, or what may leave in its place. */
export interface HeldText {
  readonly choice: number;
  readonly kind: 'content' | 'reasoning' | 'call';
  readonly text: string;
  /** What a call calls. */
  readonly name?: string | undefined;
}

/** Passes on a streamed answer that is in the client's wire already. */
export interface SameWireStream extends ClientStream {
  /** The form of an event that does nothing but go on with a text: those that arrive together may be read as one. `event` and `aside` see them so, and must pass them as they are. */
  readonly piece?: PieceForm | undefined;
  /** What leaves of an event: `raw` are its bytes as they came, blank line included; `undefined` where the upstream frames its events in another way. */
  event(event: StreamEvent, raw: string | undefined): string;
  /**
   * An event that carries texts, with others in their place, in the same order; `bytes` are what `event` made of it. Without it an answer
   * that guards hold back is written anew, from what the common format makes of it.
   */
  withTexts?(event: StreamEvent, texts: readonly HeldText[], bytes: string): string;
  /** Whether an event comes ahead of everything that a client reads: such ones wait a moment for the first that is read, so that an error behind them is a failed attempt. */
  isOpening?(event: StreamEvent): boolean;
  /** Whether an event says part of a text that chunks hold once it is complete: it waits for the events with the rest. Asked of every event in turn that guards may hold back. */
  isPartial?(event: StreamEvent): boolean;
  /** What the chunks of an event do not hold of its texts. Asked only where plugins may read the answer, for every event in turn. */
  aside?(event: StreamEvent): Aside | undefined;
  /** An event with another value in the place of the body that `aside` gave. */
  withBody?(event: StreamEvent, value: Readonly<Fields>): string;
}
