import {
  type GatewayError,
  type RawReply,
  type ReplyOf,
  SURFACES,
  type TranslatedSurface,
} from '../../contract/index.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import type { Attempt } from './attempt.ts';
import {
  admit,
  beginAttempt,
  boundAttempt,
  measureCall,
  outcomeOf,
  relayedBody,
  type Repeat,
  settle,
} from './attempt-lifecycle.ts';
import { billTurn } from '../billing/billing.ts';
import { asGatewayError } from '../gateway-fault.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { StreamSession } from '../../answer/stream.ts';
import type { Target } from '../target.ts';
import { callUnary } from './call-unary.ts';
import { openEvents } from './open-events.ts';
import { openStream } from './open-stream.ts';
import { withoutOwnWords } from './own-words.ts';
import type { Turn } from '../turns/turn.ts';
import type { Answer } from '../turns/turns.ts';

/** Tries one target with the request of the turn. A stream comes back running, with its first chunk read. */
export async function attemptTarget(
  exchange: LiveExchange,
  turn: Turn,
  target: Target,
  provider: ConnectedProvider,
  generation: RunningGeneration,
  repeat?: Repeat,
): Promise<Answer> {
  const { lastTarget, upstreamModel } = exchange.routing;
  const attempt = beginAttempt(exchange, turn, target, provider, repeat);
  const disarm = boundAttempt(attempt, generation);
  let isRelaying = false;
  try {
    const admission = admit(attempt, generation);
    if (admission) await admission;
    attempt.cancellation.throwIfCancelled();
    const reply = await answerOf(attempt, generation);
    if (reply instanceof StreamSession) {
      attempt.visit?.begins();
      void reply.ended.then((error) => endStream(attempt, reply, error, generation));
      return reply;
    }
    measureCall(attempt, generation);
    isRelaying = hasRelayedBody(exchange, reply);
    if (isRelaying) return relayed(attempt, reply as RelayedReply, disarm, generation);
    settle(attempt, undefined, 'success', generation);
    return reply;
  } catch (cause) {
    measureCall(attempt, generation);
    const error = withoutOwnWords(attempt, asGatewayError(cause));
    settle(attempt, error, outcomeOf(error), generation);
    if (isUnsayable(attempt, error))
      Object.assign(exchange.routing, { attempts: attempt.number - 1, lastTarget, upstreamModel });
    throw error;
  } finally {
    if (!isRelaying) disarm?.();
  }
}

/** A stream with its first chunk read, or a whole answer. */
function answerOf(
  attempt: Attempt,
  generation: RunningGeneration,
): Promise<StreamSession | ReplyOf<TranslatedSurface>> {
  if (!attempt.turn.streaming) return callUnary(attempt, generation);
  return SURFACES[attempt.exchange.surface].isChat ? openStream(attempt, generation) : openEvents(attempt, generation);
}

/** The provider's wire cannot hold the request, and nothing was sent: that is a fault of the request, and no attempt (docs/reference/data-plane.md#requests-that-a-wire-cannot-hold). */
function isUnsayable({ calledAt }: Attempt, { code, fault }: GatewayError): boolean {
  return code === 'invalid_request' && !fault && calledAt === undefined;
}

/** Settles the attempt of a stream, and adds what was used: of one that broke, what had come of it until then. It runs apart from the request, and so must not throw. */
function endStream(
  attempt: Attempt,
  { relay, firstChunkAt, lastChunkAt }: StreamSession,
  error: GatewayError | undefined,
  generation: RunningGeneration,
): void {
  const { exchange } = attempt;
  exchange.measured.lastChunkAt = lastChunkAt;
  const settled = error && withoutOwnWords(attempt, error);
  settle(attempt, settled, outcomeOf(settled), generation);
  exchange.routing.reportedModel = relay.reportedModel;
  try {
    if (firstChunkAt !== undefined)
      billTurn(exchange, { ...relay.facts(), isBroken: error !== undefined && !relay.isFinished }, generation.services);
  } catch (cause) {
    generation.services.log.error('a stream could not be priced', { trace_id: exchange.id, error: cause });
  }
}

interface RelayedReply extends RawReply {
  readonly body: AsyncIterable<Uint8Array>;
}

function hasRelayedBody({ surface }: LiveExchange, reply: ReplyOf<TranslatedSurface>): boolean {
  return SURFACES[surface].isRaw === true && !((reply as RawReply).body instanceof Uint8Array);
}

/** An answer whose bytes go on as they arrive is an attempt until its last one. */
function relayed(
  attempt: Attempt,
  { contentType, body }: RelayedReply,
  disarm: (() => void) | undefined,
  generation: RunningGeneration,
): RawReply {
  attempt.visit?.begins();
  const source = relayedBody(attempt, body, (error) => {
    disarm?.();
    settle(attempt, error, outcomeOf(error), generation);
  });
  return { contentType, body: source };
}
