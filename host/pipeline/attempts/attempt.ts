import type { Cancellation } from '../../upstream/cancellation.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import type { Credential } from '../../upstream/instance.ts';
import type { ChatRequest, GatewayError } from '../../contract/index.ts';
import type { ChatVia } from '../chat-via.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { Target } from '../target.ts';
import type { Turn } from '../turns/turn.ts';
import type { Visit } from '../credentials/visit.ts';

/**
 * How an attempt ended, for the breaker and the figures: `failure` is the provider's fault, `ignored` is not (the
 * client left, a local refusal, a rate limit). Set once by the host; taps read it and never classify.
 */
export type Outcome = 'success' | 'failure' | 'ignored';

/** One try at one target, local refusals included. */
export interface Attempt {
  readonly exchange: LiveExchange;
  /** Whose request it sends. */
  readonly turn: Turn;
  readonly target: Target;
  /** What it calls with; of a declared instance, set with the credential as the attempt is admitted. */
  provider: ConnectedProvider;
  /** The credential of a declared instance, once it is chosen. */
  credential: Credential | undefined;
  /** Set where a credential is chosen: what is kept from one call at the target to the next. */
  readonly visit: Visit | undefined;
  /** 1 for the first attempt of the exchange. */
  readonly number: number;
  readonly upstreamModel: string;
  /** Milliseconds of the target's `request_timeout` that are gone before it begins. */
  readonly spentMs: number;
  /** Thoughts of earlier turns stay behind: the provider has refused them, and this is the request without them. */
  readonly leavesThoughts: boolean;
  /** Ends with the exchange, or by the attempt's own deadline. */
  readonly cancellation: Cancellation;
  /** The client's request goes out in its own wire, and the answer comes back in it. */
  isSameWire: boolean;
  /** Which API of the provider's service the chat goes to; `undefined` before that is decided, and where nothing is to be. */
  via: ChatVia | undefined;
  /** What the provider's translator was given, in the common format. */
  translated: ChatRequest | undefined;
  outcome: Outcome | undefined;
  error: GatewayError | undefined;
  /** Monotonic milliseconds at which the provider was called, if it was. */
  calledAt: number | undefined;
  /** Milliseconds of the provider call; of a stream, to its first chunk. */
  upstreamMs: number | undefined;
  /** Status of the provider's last reply, where one came. */
  status: number | undefined;
  /** Called with the status of the reply to the call that is about to leave; a tap of `outgoing` sets it. */
  onReply: ((status: number) => void) | undefined;
  /** What taps remember of it, each under a key of its own (`AttemptNote`). */
  [note: symbol]: unknown;
}

/**
 * What one tap remembers of an attempt from `admit` to `settled`: a field of the attempt. A map of attempts would hold
 * every one of them for the collector to look at.
 */
export class AttemptNote<T> {
  readonly #key = Symbol('note');

  put(attempt: Attempt, value: T): void {
    attempt[this.#key] = value;
  }

  get(attempt: Attempt): T | undefined {
    return attempt[this.#key] as T | undefined;
  }

  /** Reads it once: a second look finds nothing. */
  take(attempt: Attempt): T | undefined {
    const value = this.get(attempt);
    if (value !== undefined) attempt[this.#key] = undefined;
    return value;
  }
}
