/** The sending half of an attempt: a request that is ready goes to the provider. Who made it, and who reads the reply, does not matter here. */
import type { OutgoingRequest, WireReply } from '../../contract/index.ts';
import { Cancellation } from '../../upstream/cancellation.ts';
import { timeoutError } from '../../upstream/fault.ts';
import { openReply, openVerbatim, type VerbatimReply } from '../../upstream/reply-body.ts';
import type { CollectedReply, ReplySink, UpstreamCall } from '../../upstream/upstream-call.ts';
import type { Attempt } from './attempt.ts';
import type { Eventual } from '../eventual.ts';
import type { PipelineServices } from '../pipeline-services.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const DETACHED_TIMEOUT_MS = 10_000;
/** Longest silence of a body that is forwarded. See docs/passthrough.md#what-is-changed-on-the-way. */
const FORWARDED_IDLE_MS = 300_000;

type Services = Pick<PipelineServices, 'transport'>;

/** Sends, and collects the reply. */
export function sendUnary(
  attempt: Attempt,
  request: Eventual<OutgoingRequest>,
  headersTimeoutMs: number,
  { transport }: Services,
): Promise<CollectedReply> {
  if (request instanceof Promise)
    return request.then((ready) => transport.unary(upstreamCall(attempt, ready, headersTimeoutMs)));
  return transport.unary(upstreamCall(attempt, request, headersTimeoutMs));
}

/** Sends; the reply is pushed into the sink. Streams have no header timeout: the silence before the first chunk is bounded as a whole. */
export function sendStream(attempt: Attempt, request: OutgoingRequest, sink: ReplySink, { transport }: Services): void {
  transport.open(upstreamCall(attempt, request, 0), sink);
}

/** Sends; resolves with the headers of a reply whose body is iterated. */
export function sendOpen(
  attempt: Attempt,
  request: OutgoingRequest,
  headersTimeoutMs: number,
  { transport }: Services,
): Promise<WireReply> {
  return openReply(transport, upstreamCall(attempt, request, headersTimeoutMs));
}

/** Sends; resolves with the headers of a reply as it came: not decoded, no line joined with another. */
export function sendForwarded(
  attempt: Attempt,
  request: OutgoingRequest,
  upgrade: string | undefined,
  { transport }: Services,
): Promise<VerbatimReply> {
  return openVerbatim(transport, {
    ...upstreamCall(attempt, request, 0),
    bodyIdleMs: FORWARDED_IDLE_MS,
    isVerbatim: true,
    upgrade,
  });
}

/** Outlives the attempt, and so is bounded on its own. */
export async function sendDetached(
  { provider: { egress } }: Pick<Attempt, 'provider'>,
  request: Eventual<OutgoingRequest>,
  { transport, clock }: Pick<PipelineServices, 'transport' | 'clock'>,
): Promise<CollectedReply> {
  const cancellation = new Cancellation();
  const timer = clock.timer(DETACHED_TIMEOUT_MS, () => cancellation.cancel(timeoutError()));
  try {
    return await transport.unary({
      request: await request,
      cancellation,
      egress,
      connectTimeoutMs: DETACHED_TIMEOUT_MS,
      headersTimeoutMs: DETACHED_TIMEOUT_MS,
    });
  } finally {
    timer.cancel();
  }
}

function upstreamCall(attempt: Attempt, request: OutgoingRequest, headersTimeoutMs: number): UpstreamCall {
  const {
    cancellation,
    onReply,
    provider: {
      module: { connection },
      egress,
    },
  } = attempt;
  cancellation.throwIfCancelled();
  return {
    request,
    cancellation,
    egress,
    connectTimeoutMs: connection.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    headersTimeoutMs,
    noted: attempt,
    onReply,
  };
}
