import { rounded } from '../amounts.ts';
import type { Variables } from '../variables.ts';
import { groupsOf } from './groups.ts';
import { namedInstances } from './instance-names.ts';
import type { Fleet } from './fleet.ts';
import { instanceBlock, isOfEnvironmentNow, setEnvironment } from './instance-block.ts';
import { aliasesOf, settingsOf } from './plain-form.ts';
import type { Plan } from './plan.ts';
import type { PlannedInstance } from './planned.ts';

/** The document with `providers` and `models`, and the variables it needs. */
export function fleetDocument(
  plan: Plan,
  variables: Variables,
  lookUp: (name: string) => string | undefined,
): Readonly<Record<string, unknown>> {
  const names = namedInstances(plan.instances, plan.known);
  const fleet: Fleet = { plan, variables, lookUp, nameOf: (instance) => names.get(instance) ?? instance.module.name };
  const providers = new Map<string, unknown>();
  for (const instance of plan.instances) {
    if (isOfEnvironmentNow(instance, fleet)) setEnvironment(instance, fleet);
    else providers.set(fleet.nameOf(instance), instanceBlock(instance, fleet));
  }
  if (plan.masterKey) variables.secret('MASTER_KEY', { entry: plan.masterKey });
  const targets = plan.instances.map((instance) => targetOf(instance, fleet));
  const models = groupsOf(plan, fleet.nameOf);
  return {
    apiVersion: 'v1',
    ...(providers.size > 0 && { providers: Object.fromEntries(providers) }),
    strategy: plan.strategy ?? { mode: targets.length > 1 ? 'fallback' : 'single' },
    targets,
    ...(models.length > 0 && { models }),
    ...aliasesOf(plan),
    ...plan.members,
  };
}

function targetOf(instance: PlannedInstance, { nameOf }: Fleet): Readonly<Record<string, unknown>> {
  const { settled } = instance;
  const weight = settled.get('weight');
  return {
    virtual_key: nameOf(instance),
    ...(typeof weight === 'number' && { weight: rounded(weight) }),
    ...settingsOf(settled),
  };
}
