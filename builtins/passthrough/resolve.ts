import { invalidRequest } from '../../host/common/invalid-request.ts';
import { GatewayError } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { mayAsk, mayServe } from '../../host/pipeline/key-access.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { ModelGroup } from '../../host/pipeline/model-group.ts';
import { modelNotFound } from '../../host/pipeline/shown.ts';
import { hasBytes } from './checked-body.ts';
import { type Destination, hasResponses, namedDestination, ownerOf, requireForwarding } from './destination.ts';
import { RESPONSES } from './family.ts';
import { groupDestination, namedRoute } from './group-destination.ts';
import { requireListed } from './models/listed.ts';
import { isSealedResponse, isStatefulResponse } from './models/stateful.ts';
import type { Forwarding } from './read-forwarded.ts';

/** Finds the one target, and refuses what the key may not have. */
export function resolve(forwarding: Forwarding, exchange: LiveExchange, generation: Generation): Destination {
  const { family, body, taken } = forwarding;
  if (generation.instances.size > 0 && family === RESPONSES && !taken)
    exchange.routing.isBound = isSealedResponse(body);
  const found = destinationOf(forwarding, exchange, generation);
  if (found.target.instance) exchange.routing.isStateful = isStateful(forwarding);
  return found;
}

/** Whether what the request asks for, or leaves behind, stands at one account of its vendor. */
function isStateful({ family, body, taken, paths }: Forwarding): boolean {
  if (family.asks) return taken !== undefined || isStatefulResponse(body, family.asks);
  return family.fixed !== undefined || paths.some((path) => CONVERSATIONS.test(path));
}

const CONVERSATIONS = /^\/v1\/conversations(?:\/|$)/i;

function destinationOf(forwarding: Forwarding, exchange: LiveExchange, generation: Generation): Destination {
  const { host, family, named, model, body, taken, listed, paths, request } = forwarding;
  const { aliases } = generation.config;
  const limits = exchange.limits ?? {};
  const meant = model === undefined ? undefined : Object.hasOwn(aliases, model) ? (aliases[model] ?? model) : model;
  if (exchange.model !== '' && meant !== undefined) exchange.model = meant;
  const hold = (): void => {
    if (listed)
      requireListed(
        listed,
        limits,
        { family, paths, request, hasBody: hasBytes(body) || taken !== undefined },
        generation,
      );
    if (family.asks && !mayAsk(limits, meant ?? '', aliases)) throw modelNotFound(model ?? '', host.redactor);
  };
  if (family.fixed) {
    const fixed = allowed(limits, family.fixed(host, generation));
    hold();
    return fixed;
  }
  if (meant === undefined && named === undefined && family.asks) throw invalidRequest('model is required');
  if (meant === undefined && named === undefined)
    throw new GatewayError(
      'provider_not_resolved',
      'name a provider in the header X-Provider, or a model in a JSON body or in a form',
    );
  const group = meant === undefined ? undefined : generation.groups?.of(meant);
  if (group) hold(); // what a group makes of a name is not for keys that may not ask for it
  const found = group ? inGroup(forwarding, exchange, generation, { name: meant ?? '', group }) : outside();
  if (!group) hold();
  const { module } = found.provider;
  requireForwarding(found, family.asks ? hasResponses(found) : module.passthrough === true);
  return found;

  function outside(): Destination {
    return named === undefined
      ? ownerOf(host, generation, meant ?? '', (target) => mayServe(limits, target.virtualKey))
      : allowed(limits, namedDestination(host, generation, named));
  }
}

/** Where a request goes whose model is the name of a group. */
function inGroup(
  forwarding: Forwarding,
  exchange: LiveExchange,
  generation: Generation,
  { name, group }: { readonly name: string; readonly group: ModelGroup },
): Destination {
  const { host, family, named, model, taken } = forwarding;
  const isRewritten = family.asks !== undefined && taken === undefined;
  const request = {
    exchange,
    generation,
    group,
    name,
    isRewritten,
    written: model ?? name,
    isStateful: isRewritten && named === undefined && isStateful(forwarding),
  };
  if (named === undefined) return groupDestination(request);
  const destination = allowed(exchange.limits ?? {}, namedDestination(host, generation, named));
  const target = namedRoute(request, named);
  return target ? { ...destination, target } : destination;
}

function allowed(limits: Parameters<typeof mayServe>[0], destination: Destination): Destination {
  if (mayServe(limits, destination.target.virtualKey)) return destination;
  throw new GatewayError('provider_not_found', 'this key may not use the provider');
}
