import { hash } from 'node:crypto';
import type { GatewayConfig } from '../../config/document.ts';
import type { Problem } from '../../config/problems.ts';
import type { Carryover } from '../../contract/index.ts';
import { canonicalJson } from '../../config/canonical.ts';
import type { OpenInstance as Instance } from '../../upstream/instances/open-instance.ts';
import type { OpenDeps } from '../../upstream/instances/instance-plan.ts';
import type { GenerationDeps } from '../generation-deps.ts';
import { planOf } from './plan-of.ts';

/** Instances that are opened at the same time. */
const PARALLEL = 8;

/** The entries of `providers` of a configuration, in their order. */
export type Instances = ReadonlyMap<string, Instance>;

const NONE: Instances = new Map();

/**
 * Opens what `providers` declares. An entry whose block another configuration that serves has word for word is that one's: connections,
 * values and what was measured of it stay.
 */
export async function openInstances(
  deps: GenerationDeps,
  { providers }: GatewayConfig,
  { carryover, isRefresh }: { readonly carryover: Carryover; readonly isRefresh: boolean },
): Promise<Instances> {
  if (!providers) return NONE;
  const { OpenInstance } = await import('../../upstream/instances/open-instance.ts'); // most gateways declare none
  const given = openDeps(deps);
  const instances = new Map(
    Object.entries(providers).flatMap(([name, block]) => {
      const plan = planOf(deps.registry, name, block);
      if (!plan) return [];
      const create = (): Instance => new OpenInstance(plan, given);
      const key = `instance ${name} ${hash('sha256', canonicalJson(block))}`;
      return [[name, carryover.lease(key, create, (instance) => instance.close())] as const];
    }),
  );
  const waiting = [...instances.values()];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await next.open(!isRefresh);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return instances;
}

function openDeps({ secrets, services, instanceRegistered }: GenerationDeps): OpenDeps {
  return {
    secrets,
    services,
    isOffline: instanceRegistered === undefined,
    onRegistered: () => instanceRegistered?.(),
  };
}

/** What keeps instances from serving, in the order of the file. */
export const problemsOf = (instances: Instances): readonly Problem[] =>
  [...instances.values()].flatMap(({ problems }) => problems);
