/** Calls of providers that make several round trips for one answer, or none. */
import { type CallInfo, GatewayError, type Send, type WireReply, type WireRequest } from '../../contract/index.ts';
import { ModuleFault } from '../../boundary/module-fault.ts';
import { checkedReply } from '../../boundary/provider-boundary.ts';
import { transportError } from '../../upstream/fault.ts';
import { collectBody } from '../../upstream/reply-body.ts';
import type { CollectedReply } from '../../upstream/upstream-call.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Attempt } from './attempt.ts';
import { headersTimeoutOf } from './headers-timeout.ts';
import { outgoingRequest } from './outgoing-request.ts';
import { sendDetached, sendOpen, sendUnary } from './send-attempt.ts';

/** A whole answer, by as many round trips as the provider makes. */
export async function converseUnary(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  generation: RunningGeneration,
): Promise<CollectedReply> {
  try {
    const reply = await converse(attempt, wire, call, generation);
    return { ...reply, body: await collectBody(reply.body) };
  } catch (cause) {
    throw cause instanceof GatewayError ? cause : transportError(cause);
  }
}

/** An answer whose body may still arrive, by as many round trips as the provider makes. */
export async function converse(
  attempt: Attempt,
  wire: WireRequest,
  call: CallInfo,
  generation: RunningGeneration,
): Promise<WireReply> {
  const { module, ref } = attempt.provider;
  if (!module.converse) throw new Error(`${module.name} makes a single call`);
  try {
    return checkedReply(await module.converse(sender(attempt, generation), wire, call));
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : new ModuleFault(ref, 'converse', thrown);
  }
}

/** `send` for providers that make several round trips. */
function sender(attempt: Attempt, { services, hooks }: RunningGeneration): Send {
  return async (wire, options): Promise<WireReply> => {
    const request = outgoingRequest(attempt, wire, hooks);
    if (options?.detached) return sendDetached(attempt, request, services);
    if (options?.stream) return sendOpen(attempt, await request, 0, services);
    return sendUnary(attempt, request, headersTimeoutOf(attempt, wire), services);
  };
}
