import { GatewayError } from '../../host/contract/index.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import { modelNotFound } from '../../host/pipeline/shown.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { ConnectedProvider } from '../../host/upstream/connect.ts';
import { hasCredentials } from '../../host/upstream/connect.ts';

/** Where a request is sent on to. */
export interface Destination {
  readonly target: Target;
  readonly provider: ConnectedProvider;
}

/** The target that a request names itself: a registered provider that some target stands for. */
export function namedDestination(host: Host, { targets }: Generation, name: string): Destination {
  const target = targets.get(name);
  const connected = target && connectedTo(host, target);
  if (!connected)
    throw new GatewayError('provider_not_found', 'no configured target has the provider that X-Provider names');
  return connected;
}

/** The first target that owns a model; of one that has no owner, the first whose provider takes any name. */
export function ownerOf(
  host: Host,
  { models, targets }: Generation,
  model: string,
  mayServe: (target: Target) => boolean,
): Destination {
  const owner = models.isKnown(model)
    ? models
        .owners(model)
        .filter(({ serves }) => serves)
        .map(({ virtualKey }) => targets.get(virtualKey))
        .find((target) => target && mayServe(target))
    : models.takers(model).find(mayServe);
  const connected = owner && connectedTo(host, owner);
  if (!connected) throw modelNotFound(model, host.redactor);
  return connected;
}

/** The target's provider; `undefined` while nothing registers it. */
export function connectedTo(host: Host, target: Target): Destination | undefined {
  if (target.provider) return { target, provider: target.provider };
  const module = target.instance ? undefined : host.registry.providers.get(target.virtualKey);
  if (module && !module.offline && hasCredentials(module, host.variables))
    throw new GatewayError('internal_error', 'the address of the provider is not usable');
  return undefined;
}

/** Whether requests of the Responses API may be sent on to it. */
export const hasResponses = ({
  provider: {
    module: { responses },
  },
}: Destination): boolean => responses === true || responses === 'native';

/** Refuses providers whose API is not the clients' own, and those that nothing can be sent on to. */
export function requireForwarding({ provider: { module } }: Destination, isAble: boolean): void {
  if (module.wire === 'common' && isAble) return;
  throw notForwarded(module.name);
}

export const notForwarded = (kind: string): GatewayError =>
  new GatewayError('proxy_not_supported', `requests cannot be passed through to ${kind}`);

/** Where the paths of a provider stand that stand below `/v1` here. */
export function rootOf({ root, module: { forwardPath = '' } }: ConnectedProvider): string {
  if (!URL.canParse(root)) throw new GatewayError('internal_error', 'the address of the provider is not usable');
  return root + forwardPath;
}

/** The address of a request at its provider: what follows `/v1`, as it was written, behind the API root. */
export const addressAt = (provider: ConnectedProvider, url: string): string =>
  rootOf(provider) + url.slice('/v1'.length);
