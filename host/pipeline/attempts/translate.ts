/** What a provider is sent for a request: its translation, or the client's own body where both speak one wire. */
import {
  type CallInfo,
  type ChatRequest,
  type ImagesRequest,
  isFields,
  NO_FACTS,
  type ParamTreatments,
  SURFACES,
  type WireRequest,
} from '../../contract/index.ts';
import { deepFrozen } from '../../common/deep-frozen.ts';
import { checkedWire, providerError } from '../../boundary/provider-boundary.ts';
import { type ChatChoice, chatViaOf, withoutRefusedEffort } from '../chat-via.ts';
import type { Attempt } from './attempt.ts';
import { inClientPaths } from '../../wire/client-paths.ts';
import type { ClientRequest } from '../../wire/client-request.ts';
import type { RunningGeneration } from '../running-generation.ts';
import { shownNames } from '../shown.ts';
import { withoutThoughts } from './left-thoughts.ts';
import { goesByResponses, translatorOf } from './live-call.ts';
import { inMatrixOrder, unsupportedIn, withoutUnsupported } from './parameters.ts';
import { refuseImageFormat, reportIgnored, reportLost } from './report-ignored.ts';
import { adaptedRequest, sameWireRequest, targetFacts } from './same-wire.ts';

/** The request in the provider's wire, under the policy for what it cannot express. */
export function toWire(attempt: Attempt, call: CallInfo, generation: RunningGeneration): WireRequest {
  const { exchange, turn } = attempt;
  if (exchange.sent) return clientWire(attempt, exchange.sent, call, generation);
  decideVia(attempt, call);
  if (exchange.surface === 'images' || exchange.surface === 'images.edits')
    refuseImageFormat(attempt.provider.module, (turn.request as ImagesRequest).response_format);
  const { wire, names } = translated(attempt, turn.request as ChatRequest, call, generation);
  exchange.routing.ignoredParams = reportIgnored(attempt, names, generation);
  return wire;
}

/** The request of a client that speaks a wire of its own, in the provider's wire: what is not carried goes by the client's own paths. */
function clientWire(attempt: Attempt, sent: ClientRequest, call: CallInfo, generation: RunningGeneration): WireRequest {
  const {
    exchange,
    provider: { module },
  } = attempt;
  const same = sameWireRequest(attempt, call);
  if (same) {
    exchange.routing.translated = undefined;
    exchange.routing.ignoredParams = reportLost(attempt, same.ignored ?? [], generation);
    return same;
  }
  decideVia(attempt, call);
  const facts = targetFacts(attempt, call, generation.services);
  const { request, lost } = adaptedRequest(attempt, sent, facts);
  let made: ReturnType<typeof translated>;
  try {
    made = translated(attempt, request, call, generation);
  } catch (thrown) {
    throw inClientPaths(thrown, request, { sent, facts });
  }
  const { wire, names } = made;
  const paths = inMatrixOrder(names, module.wire).flatMap((name) => sent.dialect.pathsOf(name, facts, sent.value));
  exchange.routing.ignoredParams = reportLost(attempt, [...lost, ...paths], generation);
  return wire;
}

/** What the translator makes of a request, and the fields that it cannot express. */
function translated(
  attempt: Attempt,
  given: ChatRequest,
  call: CallInfo,
  { unsupportedParams: policy, services: { log } }: RunningGeneration,
): { readonly wire: WireRequest; readonly names: readonly string[] } {
  const {
    exchange,
    turn: { withoutTools },
  } = attempt;
  const params = treatmentsOf(attempt, call.model);
  const wanted = withoutTools && params['tools'] === 'unsupported' ? (withoutTools as ChatRequest) : given;
  const { request: asked, lost } = byChoice(attempt, wanted, call);
  const unsupported = unsupportedIn(asked, params);
  const carried = policy === 'drop' ? withoutUnsupported(asked, unsupported) : asked;
  const request = attempt.leavesThoughts ? withoutThoughts(carried) : carried;
  attempt.translated = request;
  const wire = wireOf(attempt, request, call);
  if (wire.bounded?.length) {
    log.warn('parameters bounded to what the provider takes', {
      target: attempt.target.virtualKey,
      params: shownNames(wire.bounded),
      trace_id: exchange.id,
    });
  }
  const { ignored = [] } = wire;
  const names = ignored.length + lost.length > 0 ? [...unsupported, ...lost, ...ignored] : unsupported;
  exchange.routing.translated = {
    request: asked,
    left: names,
    isChat: SURFACES[exchange.surface].isChat,
    via: attempt.via?.via,
  };
  return { wire, names };
}

/** Decides which API the chat goes to, by the request before it is made ready for one of them. */
function decideVia(attempt: Attempt, call: CallInfo): void {
  const { exchange, turn, target, provider } = attempt;
  if (!SURFACES[exchange.surface].isChat) return;
  const via = chatViaOf({
    target,
    provider,
    model: call.model,
    facts: call.facts ?? NO_FACTS,
    request: turn.request as ChatRequest,
    wantsThoughts: () => call.wantsThoughts === true,
  });
  if (via.isSettled !== true) attempt.via = via;
}

/** The request as the API that was chosen for it takes it. */
function byChoice({ via, target }: Attempt, request: ChatRequest, { facts = NO_FACTS }: CallInfo): ChatChoice {
  return via?.via === 'chat' && target.config.chat_via === 'chat'
    ? withoutRefusedEffort(request, facts)
    : { request, lost: NO_NAMES };
}

const NO_NAMES: readonly string[] = Object.freeze([]);
const NONE: ParamTreatments = Object.freeze({});

function treatmentsOf(attempt: Attempt, model: string): ParamTreatments {
  const {
    exchange,
    provider: { module, ref },
  } = attempt;
  if (!SURFACES[exchange.surface].isChat || goesByResponses(attempt)) return NONE; // the other API names all that it leaves out
  if (!module.paramsFor) return module.params;
  try {
    const params: unknown = module.paramsFor(model);
    if (isFields(params)) return params as ParamTreatments;
    throw new Error('it returned no treatments: an object by parameter');
  } catch (thrown) {
    throw providerError(ref, 'paramsFor', thrown);
  }
}

/** What the translator makes of the request. The next target gets the same one: a third-party module that changes it fails where it does. */
function wireOf(attempt: Attempt, request: ChatRequest, call: CallInfo): WireRequest {
  const { ref } = attempt.provider;
  if (ref.file !== undefined) deepFrozen(request);
  try {
    return checkedWire(translatorOf(attempt).toUpstream(request, call));
  } catch (thrown) {
    throw providerError(ref, 'toUpstream', thrown);
  }
}
