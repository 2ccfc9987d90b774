import type { GatewayError, OutgoingRequest } from '../../contract/index.ts';
import type { ConnectedProvider } from '../../upstream/connect.ts';
import { statusError } from '../../upstream/fault.ts';
import type { VerbatimReply } from '../../upstream/reply-body.ts';
import type { Outcome } from './attempt.ts';
import {
  admit,
  beginAttempt,
  FIRST,
  boundAttempt,
  measureCall,
  outcomeOf,
  relayedBody,
  settle,
} from './attempt-lifecycle.ts';
import { asGatewayError } from '../gateway-fault.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { leavingRequest } from './outgoing-request.ts';
import { noteHead } from './reply-status.ts';
import { sendForwarded } from './send-attempt.ts';
import type { Tells } from '../credentials/visit.ts';
import { forwardedVisit } from '../credentials/visit-target.ts';
import type { Target } from '../target.ts';

export interface Forwarded {
  readonly target: Target;
  readonly provider: ConnectedProvider;
  /** Ready but for what `outgoing` adds and the credential. Its body may be what still arrives from the client. */
  readonly request: OutgoingRequest;
  /** Another protocol that is asked for. Where the upstream takes it up, the attempt lasts as long as the connection. */
  readonly upgrade?: string | undefined;
  /** The deadlines bound the time to the reply's headers alone. */
  readonly isTimedToHeaders?: boolean;
  /** What its end says of the credential; nothing unless said, because refusals of paths that the gateway does not know have reasons of their own. */
  readonly tells?: Tells | undefined;
}

/** What came back, and why it counts as a failure, if it does. */
export interface ForwardedReply extends VerbatimReply {
  /** As it left: with the credential. */
  readonly sent: OutgoingRequest;
  readonly refusal: GatewayError | undefined;
}

/**
 * Sends bytes to one target as they are; resolves with the reply's headers, whatever its status. It is an attempt like a
 * translated one: numbered, admitted, bounded, and settled with the last byte of the reply, or when no more of it is wanted.
 */
export async function forwardAttempt(
  exchange: LiveExchange,
  { target, provider, request, upgrade, isTimedToHeaders = false, tells }: Forwarded,
  generation: RunningGeneration,
): Promise<ForwardedReply> {
  const visit = forwardedVisit(target, exchange, { tells, hooks: generation.hooks });
  const attempt = beginAttempt(exchange, exchange.beginTurn(undefined), target, provider, visit && { ...FIRST, visit });
  const disarm = boundAttempt(attempt, generation);
  const { services, hooks } = generation;
  let isOpen = false;
  try {
    const admission = admit(attempt, generation);
    if (admission) await admission;
    attempt.cancellation.throwIfCancelled();
    attempt.calledAt = services.clock.monotonic();
    exchange.delivery.isForwarded = true;
    const sent = await leavingRequest(attempt, request, TRUSTED, hooks);
    const reply = await sendForwarded(attempt, sent, upgrade, services);
    measureCall(attempt, generation);
    noteHead(attempt, reply.headers);
    const refusal = reply.status < 400 ? undefined : statusError(reply, services.clock.now());
    isOpen = !isTimedToHeaders && !reply.socket;
    const body = relayedBody(attempt, reply.body, (broken) => {
      disarm?.();
      const error = refusal ?? broken; // a status speaks for itself, even when its body broke off
      settle(attempt, error, forwardedOutcome(error), generation);
    });
    if (!isOpen) exchange.delivery.timedUntil = undefined;
    return { ...reply, body, sent, refusal };
  } catch (cause) {
    measureCall(attempt, generation);
    const error = asGatewayError(cause);
    settle(attempt, error, forwardedOutcome(error), generation);
    throw error;
  } finally {
    if (!isOpen) disarm?.();
  }
}

/** The address of a forwarded request is made from the provider's own. */
const TRUSTED = { path: '/', withCredential: true } as const;

/** The body of a forwarded refusal is not read: 5xx are failures, 4xx are not (docs/reference/data-plane.md#what-counts-for-a-breaker). */
function forwardedOutcome(error: GatewayError | undefined): Outcome {
  const status = error?.fault?.status;
  if (status === undefined) return outcomeOf(error);
  return status >= 500 ? 'failure' : 'success';
}
