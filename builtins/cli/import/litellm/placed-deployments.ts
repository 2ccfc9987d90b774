import type { Plan } from '../plan/plan.ts';
import type { PlannedCredential, PlannedInstance } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';

/** An entry of `model_list` that has a place in the plan. */
export interface PlacedDeployment {
  readonly item: Entry;
  readonly params: Entry;
  readonly instance: PlannedInstance;
  readonly credential: PlannedCredential;
  readonly model: string | undefined;
  /** Whether others of its name differ by the key alone. */
  readonly isPooled: boolean;
}

/** The deployments that were carried, by the name they stand under. */
export function deploymentsOf(root: Entry, plan: Plan): ReadonlyMap<string, readonly PlacedDeployment[]> {
  const found = new Map<string, PlacedDeployment[]>();
  for (const item of root.at('model_list').items) {
    const params = item.at('litellm_params');
    const placed = plan.placed.get(params.at('model').where);
    const name = item.at('model_name').text ?? '';
    if (placed) found.set(name, [...(found.get(name) ?? []), { item, params, ...placed, isPooled: false }]);
  }
  for (const [name, deployments] of found)
    found.set(
      name,
      deployments.map((one) => ({
        ...one,
        isPooled: deployments.some(
          ({ instance, model, credential }) =>
            instance === one.instance && model === one.model && credential !== one.credential,
        ),
      })),
    );
  return found;
}
