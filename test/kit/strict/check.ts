import {
  type CallInfo,
  type ChatRequest,
  type ChatTranslator,
  GatewayError,
  type ProviderModule,
  type WireRequest,
} from '../../../host/contract/index.ts';
import { PENDING_REFUSALS } from '../../differential/pending.ts';
import { isOfChoice, ownFaults, refusalsOf } from './index.ts';
import type { Body } from './schema.ts';

/**
 * What the vendor would refuse of a chat request. Nothing where the client's own request is at fault. Parameters that the
 * provider declares as unsupported are left aside: on the common wire they travel unless the configuration says `drop`,
 * and the client learns of it.
 */
function refusalsOfWire(
  module: ProviderModule,
  model: string,
  request: ChatRequest,
  { path, body }: WireRequest,
): string[] {
  if (typeof body !== 'object' || body instanceof Uint8Array || ownFaults(request).length > 0) return [];
  const treatments = module.paramsFor?.(model) ?? module.params;
  const sent = JSON.parse(JSON.stringify(body)) as Body;
  const judged = Object.fromEntries(Object.entries(sent).filter(([field]) => treatments[field] !== 'unsupported'));
  return refusalsOf({ provider: module.name, model, path: path.split('?')[0] ?? '', body: judged }).filter(
    (problem) => !isPending(module.name, problem),
  );
}

export const isPending = (provider: string, problem: string): boolean =>
  PENDING_REFUSALS.some(({ providers, problems }) => providers.test(provider) && problems.test(problem));

interface Sent {
  readonly wire: WireRequest;
  readonly model: string;
  /** Whether the API of the service was chosen as a gateway does it. A translator alone is not asked which it should be. */
  readonly isChosen: boolean;
}

/** Throws what the vendor would answer, so that a test whose request no vendor takes does not pass. */
export function expectTaken(module: ProviderModule, request: object, { wire, model, isChosen }: Sent): void {
  const refusals = refusalsOfWire(module, model, request as ChatRequest, wire).filter(
    (problem) => isChosen || !isOfChoice(problem),
  );
  if (refusals.length > 0)
    throw new Error(`${module.name} would refuse this: ${refusals.join('; ')}: ${JSON.stringify(wire.body)}`);
}

/** The module as the tests' gateways load it: what its vendor refuses is a 400 here too. */
export function strictly(module: ProviderModule): ProviderModule {
  const { chat } = module.translators;
  if (!chat) return module;
  const judged = <T extends Pick<ChatTranslator, 'toUpstream'>>(translator: T): T => ({
    ...translator,
    toUpstream: (request: ChatRequest, call: CallInfo) => {
      const wire = translator.toUpstream(request, call);
      const refusals = refusalsOfWire(module, call.model, request, wire);
      if (refusals.length > 0)
        throw new GatewayError('invalid_request', `${module.name} would refuse this: ${refusals.join('; ')}`);
      return wire;
    },
  });
  const { viaResponses } = chat;
  const own = { ...judged(chat), ...(viaResponses && { viaResponses: judged(viaResponses) }) };
  return { ...module, translators: { ...module.translators, chat: own } };
}
