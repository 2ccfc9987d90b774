/** One streamed answer of a provider: the request in its wire goes out, and its first chunk is awaited. */
import type { CallInfo, WireRequest } from '../../contract/index.ts';
import type { Relay } from '../../answer/relay.ts';
import type { StreamRelay } from '../../answer/events/stream-relay.ts';
import { StreamSession } from '../../answer/stream.ts';
import { pumpReply } from '../../upstream/reply-body.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { shownModel } from '../shown.ts';
import type { Attempt } from './attempt.ts';
import { measureCall } from './attempt-lifecycle.ts';
import { converse } from './converse.ts';
import { LiveCall } from './live-call.ts';
import { outgoingRequest } from './outgoing-request.ts';
import { relayFor } from './relay-for.ts';
import { failedReply, noteHead } from './reply-status.ts';
import { sendStream } from './send-attempt.ts';
import { toWire } from './translate.ts';

/** Opens the provider's stream; resolves once its first chunk has been read. */
export async function openStream(attempt: Attempt, generation: RunningGeneration): Promise<StreamSession<Relay>> {
  const { exchange, turn } = attempt;
  const { clock } = generation.services;
  const call = new LiveCall(attempt, generation.services);
  const wire = toWire(attempt, call, generation);
  const session = sessionOf(attempt, relayFor(attempt, call, generation), generation);
  attempt.calledAt = clock.monotonic();
  if (turn.isOwn) exchange.delivery.early?.start();
  try {
    await Promise.all([dispatchStream(attempt, wire, call, session, generation), session.started]);
  } catch (error) {
    session.release();
    throw error;
  }
  measureCall(attempt, generation);
  if (attempt.isSameWire) exchange.keepPrivate();
  noteStarted(attempt, generation);
  exchange.routing.reportedModel = session.relay.reportedModel;
  noteHead(attempt, session.headers);
  if (turn.openStream) return session; // what of it leaves, and when, only the code that asked for the turn knows
  exchange.delivery.readText = () => session.relay.assembly.text();
  exchange.measured.ttftMs = (session.firstChunkAt ?? clock.monotonic()) - exchange.arrivedAt;
  return session;
}

/** The line that says that a stream has begun. */
export function noteStarted({ exchange, target }: Attempt, { services: { log, redactor } }: RunningGeneration): void {
  log.debug('stream request started', {
    model: shownModel(exchange.model, redactor),
    provider: target.virtualKey,
    trace_id: exchange.id,
  });
}

/** The session of an attempt's stream, which waits for its bytes. */
export function sessionOf<R extends StreamRelay>(
  attempt: Attempt,
  relay: R,
  { services: { clock, log, streamIdleMs } }: RunningGeneration,
): StreamSession<R> {
  return new StreamSession({
    relay,
    clock,
    cancellation: attempt.cancellation,
    idleMs: streamIdleMs,
    onIdle: (idle_timeout_ms) =>
      log.warn('stream response timed out waiting for next chunk', {
        target: attempt.target.virtualKey,
        idle_timeout_ms,
        trace_id: attempt.exchange.id,
      }),
    refuse: (status, headers, body) => failedReply(attempt, { status, headers, body }, clock.now()),
  });
}

async function dispatchStream(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  session: StreamSession,
  generation: RunningGeneration,
): Promise<void> {
  if (attempt.provider.module.converse) void pumpReply(converse(attempt, wire, call, generation), session);
  else sendStream(attempt, await outgoingRequest(attempt, wire, generation.hooks), session, generation.services);
}
