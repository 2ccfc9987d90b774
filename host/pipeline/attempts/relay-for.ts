import type { CallInfo, ChatRequest, ChatTranslator } from '../../contract/index.ts';
import { type ModuleRef } from '../../boundary/module-fault.ts';
import { providerError } from '../../boundary/provider-boundary.ts';
import { refusePromise } from '../../boundary/thenable.ts';
import type { ChunkFilter } from '../../answer/guarded/chunk-filter.ts';
import { Relay } from '../../answer/relay.ts';
import type { RelayGuards, RelaySource } from '../../answer/relay-source.ts';
import type { ClientStream } from '../../wire/client-wire.ts';
import { SummedUsage } from '../billing/summed-usage.ts';
import { awaitsVerdict, holdsBack } from '../guards/plugin-policy.ts';
import { guardRejection } from '../guards/verdict-notes.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Attempt } from './attempt.ts';
import { goesByResponses, translatorOf } from './live-call.ts';

/** The relay of an attempt's stream: how it is read, who guards it, and who writes what goes to the client. */
export function relayFor(attempt: Attempt, call: CallInfo, generation: RunningGeneration): Relay {
  const { exchange, turn } = attempt;
  const guards = guardsOf(attempt, generation);
  const source = sourceOf(attempt, call, guards, generation);
  const isVerbatim = source.speaks === 'client';
  const encoder = isVerbatim ? source.stream : encoderFor(attempt);
  return new Relay({
    encoder,
    source,
    guards,
    model: exchange.model,
    created: Math.floor(generation.services.clock.now() / 1000),
    stripUsage: exchange.stripsUsage,
    functionsOnly: exchange.sent !== undefined,
    answer: exchange.wire.needsCallIds ? `${exchange.id} ${exchange.attempts}` : undefined,
    // Encoders of other wires keep parts of the answer until they can be written: the assembly bounds what they keep.
    assembles:
      generation.plugins.count > 0 ||
      turn.openStream !== undefined ||
      exchange.delivery.keepsText ||
      (!isVerbatim && encoder.frames === undefined),
  });
}

/** How the upstream's stream is read; in the client's own wire where it speaks that, and where guards can hold its events back if they must. */
function sourceOf(
  attempt: Attempt,
  call: CallInfo,
  guards: RelayGuards | undefined,
  { plugins }: RunningGeneration,
): RelaySource {
  const { exchange, turn, provider } = attempt;
  const { module, ref } = provider;
  const { openStream: open, editStream } = translatorOf(attempt) as ChatTranslator;
  const request = attempt.translated ?? (turn.request as ChatRequest);
  const framing = goesByResponses(attempt) ? 'sse' : (module.framing ?? 'sse');
  const common = { framing, module: ref } as const;
  const decode = typeof open === 'function' ? opened(ref, 'openStream', open, call, request) : undefined;
  if (!decode) {
    const edit = editStream && opened(ref, 'editStream', editStream, call, request);
    return { speaks: 'common', edit, ...common };
  }
  const stream = attempt.isSameWire ? exchange.wire.openSameWire?.(exchange) : undefined;
  const isHeldBack = guards !== undefined && (guards.holdsBack || guards.awaitsVerdict);
  if (!stream || (isHeldBack && !stream.withTexts))
    return { speaks: 'native', decode, tellsAll: goesByResponses(attempt), ...common };
  return { speaks: 'client', decode, stream, readsAsides: plugins.readsAnswers.has(exchange.surface), ...common };
}

/** What a provider makes for one stream: a function, or nothing. */
function opened<F>(
  ref: ModuleRef,
  functionName: string,
  open: (call: CallInfo, request: ChatRequest) => F | undefined,
  call: CallInfo,
  request: ChatRequest,
): F | undefined {
  try {
    const made = open(call, request);
    if (made === undefined || typeof made === 'function') return made;
    refusePromise(made);
    throw new Error('it returned no function');
  } catch (thrown) {
    throw providerError(ref, functionName, thrown);
  }
}

/** A frame of usage tells what the exchange has used, turns before this one included. */
function encoderFor({ exchange, turn }: Attempt): ClientStream {
  const encoder = turn.openStream ? turn.openStream(exchange) : exchange.wire.openStream(exchange);
  return turn.usageBefore ? new SummedUsage(encoder, turn.usageBefore) : encoder;
}

/** Present only when some plugin guards this stream. A guard is made per attempt: nothing of a failed one stays. */
function guardsOf(
  { exchange }: Attempt,
  { hooks, plugins, services: { clock } }: RunningGeneration,
): RelayGuards | undefined {
  exchange.stage = 'before_request'; // guards are made before there is an answer, also after an attempt that had begun one
  const guards = plugins.openStreamGuards(exchange);
  exchange.plugins.streamGuards = guards;
  if (!guards) return undefined;
  const filter: ChunkFilter = (chunks, moment) => {
    exchange.stage = 'after_request';
    const step = hooks.chunk.call(chunks, exchange, moment);
    if ('rejection' in step) throw guardRejection(step, exchange, { hooks, clock });
    return step;
  };
  return { filter, holdsBack: holdsBack(guards), awaitsVerdict: awaitsVerdict(guards) };
}
