import type { Plan } from '../plan/plan.ts';
import type { Entry } from '../reading.ts';
import { deploymentsOf, type PlacedDeployment } from './placed-deployments.ts';

/** The order of a deployment, lowest first. Source: docs.litellm.ai, "How a deployment is picked", 2026-11-05. */
export function readOrders(root: Entry, plan: Plan): void {
  for (const [name, deployments] of deploymentsOf(root, plan)) {
    const planned = plan.names.get(name);
    if (!planned || deployments.every((one) => orderOf(one).number === undefined)) continue;
    const tiers = new Map<string, number>();
    for (const deployment of deployments) {
      const order = orderOf(deployment);
      if (order.number === undefined) {
        deployment.params.at('model').amend('not carried: where some have an order, one without is not asked');
        continue;
      }
      const key = keyOf(deployment, plan);
      tiers.set(key, Math.min(tiers.get(key) ?? order.number, order.number));
      order.carry();
    }
    const routes = planned.routes.flatMap((route) => {
      const tier = tiers.get(keyOf(route, plan));
      return tier === undefined ? [] : [{ ...route, tier }];
    });
    planned.routes = routes;
  }
}

const orderOf = ({ params, item }: PlacedDeployment): Entry => {
  const own = params.at('order');
  return own.isThere ? own : item.at('model_info').at('order');
};

const keyOf = ({ instance, model }: Pick<PlacedDeployment, 'instance' | 'model'>, { instances }: Plan): string =>
  JSON.stringify([instances.indexOf(instance), model ?? null]);
