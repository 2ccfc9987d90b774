import { rounded } from '../amounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedCredential, PlannedRoute } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';
import { deploymentsOf, type PlacedDeployment } from './placed-deployments.ts';

/** Measures that draw, the first of which any deployment of a name has. Source: docs.litellm.ai, "Strategies, routing groups and sub-routers", 2026-11-05. */
const MEASURES = ['weight', 'rpm', 'tpm'] as const;

/** The share of a route that is drawn only where the others rest: about one request in a million is its own. */
const LEAST = 0.000001;

/** Weights of deployments are those of the routes; entries equal but for the key are weights of credentials, too. */
export function readWeights(root: Entry, plan: Plan): void {
  for (const [name, deployments] of deploymentsOf(root, plan)) {
    const planned = plan.names.get(name);
    if (!planned) continue;
    if (planned.mode !== DRAWN || deployments.length === 1) {
      for (const { params } of deployments) params.at('weight').leave('nothing is drawn for the name');
      continue;
    }
    for (const [, routes] of Map.groupBy(planned.routes, ({ tier }) => tier)) readTier(routes, deployments);
  }
}

const DRAWN = 'loadbalance';

/** Deployments of one order are drawn among themselves. */
function readTier(routes: readonly PlannedRoute[], deployments: readonly PlacedDeployment[]): void {
  const own = deployments.filter(({ instance, model }) =>
    routes.some((route) => route.instance === instance && route.model === model),
  );
  const measure = MEASURES.find((one) => own.some(({ params }) => (params.at(one).number ?? 0) > 0));
  if (measure === undefined) return;
  weigh(
    routes,
    own.map((one) => ({ ...one, weight: one.params.at(measure).number ?? 0 })),
    measure,
  );
}

type Weighed = PlacedDeployment & { readonly weight: number };

function weigh(routes: readonly PlannedRoute[], drawn: readonly Weighed[], measure: (typeof MEASURES)[number]): void {
  for (const route of routes) {
    const own = drawn.filter(({ instance, model }) => instance === route.instance && model === route.model);
    route.weight = rounded(own.reduce((sum, { weight }) => sum + weight, 0)) || LEAST;
  }
  for (const { params, weight, credential, isPooled } of drawn) {
    const entry = params.at(measure);
    if (isPooled) weighCredential(credential, weight, entry);
    entry.carry(measure === 'weight' ? undefined : 'it counts as the weight, and bounds nothing');
  }
}

function weighCredential(credential: PlannedCredential, weight: number, entry: Entry): void {
  const known = credential.weight;
  if (known !== undefined && known !== weight && known >= weight)
    return entry.carry('the key has a larger weight for another name');
  for (const other of credential.weights)
    if (known !== undefined && known !== weight) other.amend('the key has a larger weight for another name');
  credential.weight = weight;
  credential.weights.push(entry);
}
