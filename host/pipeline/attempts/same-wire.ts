/** What an attempt does for a client that speaks a wire of its own: as it is to a service that speaks it too, else in the common format. */
import { checkedWire, providerError } from '../../boundary/provider-boundary.ts';
import { deepFrozen } from '../../common/deep-frozen.ts';
import {
  type CallInfo,
  type ChatRequest,
  type ClientBody,
  isFields,
  NO_FACTS,
  type ReplyOf,
  type SameWire,
  type TranslatedSurface,
  type WireRequest,
} from '../../contract/index.ts';
import { type Adapted, type ClientRequest, ClientReply, type TargetFacts } from '../../wire/client-request.ts';
import type { Attempt } from './attempt.ts';
import { catalogEntryOf } from '../billing/catalog-entry.ts';
import { chatTraitsOf } from './chat-traits.ts';
import type { PipelineServices } from '../pipeline-services.ts';

/** The request in the client's own wire; `undefined` where the target must have it in the common format. */
export function sameWireRequest(attempt: Attempt, call: CallInfo): WireRequest | undefined {
  const {
    exchange: { sent },
    provider: { module },
  } = attempt;
  const entrance = sent?.isCurrent ? module.sameWire?.[sent.wire] : undefined;
  if (!sent) return undefined;
  if (!entrance) {
    attempt.exchange.routing.isSameWire = false;
    return undefined;
  }
  attempt.isSameWire = true; // the call shows such an entrance the client's headers
  const wire = enter(attempt, sent, (body) => entrance.toUpstream(body, call));
  attempt.isSameWire = wire !== undefined;
  attempt.exchange.routing.isSameWire = attempt.isSameWire;
  return wire;
}

/** The request that has the target count tokens, where it can. */
export function countingRequest(attempt: Attempt, call: CallInfo): WireRequest | undefined {
  const {
    exchange: { sent },
    provider: { module },
  } = attempt;
  const entrance = sent?.isCurrent ? module.sameWire?.[sent.wire] : undefined;
  if (!sent || !entrance?.countTokens) return undefined;
  attempt.isSameWire = true;
  attempt.exchange.routing.isSameWire = true;
  return enter(attempt, sent, (body) => (entrance as Required<SameWire>).countTokens(body, call));
}

/** Bytes of the client's that the entrance did not change leave as they came. */
function enter(
  { provider: { ref } }: Attempt,
  sent: ClientRequest,
  toUpstream: (body: ClientBody) => unknown,
): WireRequest | undefined {
  const { request: value, lost } = sent.dialect.forSameWire(sent.value);
  if (ref.file !== undefined) deepFrozen(value);
  let wire: WireRequest;
  try {
    const made = toUpstream({ wire: sent.wire, operation: sent.operation, texts: sent.texts, value });
    if (made === undefined) return undefined;
    wire = checkedWire(made);
  } catch (thrown) {
    throw providerError(ref, 'sameWire', thrown);
  }
  const { body, headers, ignored = [] } = wire;
  return {
    ...wire,
    ignored: [...ignored, ...lost],
    ...(isFields(body) &&
      !(body instanceof Uint8Array) && {
        body: sent.bytesOf(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
  };
}

/** The common request of the turn, as this target takes it. Throws where only the client's own wire could carry it. */
export function adaptedRequest({ turn }: Attempt, sent: ClientRequest, facts: TargetFacts): Adapted<ChatRequest> {
  if (sent.refusal) throw sent.refusal;
  const { request, lost } = sent.dialect.adapt(turn.request as ChatRequest, facts, sent.value);
  return { request, lost: [...sent.lost, ...lost] };
}

export function targetFacts(
  attempt: Attempt,
  { facts = NO_FACTS }: CallInfo,
  { catalog }: PipelineServices,
): TargetFacts {
  const {
    target,
    provider,
    upstreamModel: model,
    turn: { streaming },
    via,
  } = attempt;
  const traits = chatTraitsOf(provider, model);
  return {
    provider: provider.module.name,
    wire: traits.wire ?? provider.module.wire,
    via: via?.via,
    leavesThoughts: attempt.leavesThoughts,
    traits,
    facts,
    entry: catalogEntryOf(target, model, catalog),
    streaming,
  };
}

/** Keeps the bytes of an answer that goes on as it came. No other request gets it: it may hold what only its vendor understands. */
export function keepReply(
  { exchange }: Attempt,
  reply: { readonly body: Buffer; json(): unknown },
  answer: ReplyOf<TranslatedSurface>,
): ReplyOf<TranslatedSurface> {
  const { sent } = exchange;
  const value = reply.json();
  if (sent && isFields(value)) exchange.clientReply = new ClientReply(sent, reply.body, value);
  exchange.keepPrivate();
  return answer;
}
