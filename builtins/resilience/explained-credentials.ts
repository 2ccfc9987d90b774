import type { ExplainedRoute } from '../../host/pipeline/explained.ts';
import type { GenerationHooks } from '../../host/pipeline/hooks.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import type { Target } from '../../host/pipeline/target.ts';

/** Says of a target of a declared instance which credentials a request would use, and how they stand. Nothing is drawn, and no try is taken. */
export function explainCredentials(
  members: ExplainedRoute,
  target: Target,
  { exchange, pipeline }: { readonly exchange: LiveExchange; readonly pipeline: GenerationHooks },
): void {
  const { instance } = target;
  const desk = pipeline.credentials.call();
  if (!instance || !desk) return;
  const { model, routing } = exchange;
  const upstreamModel = target.upstreamModel(routing.fallback ?? model);
  const order = pipeline.credentialOrder.call(exchange, instance, upstreamModel);
  members.credentials = desk
    .viewsFor(instance, upstreamModel, order)
    .map(({ name, state, weight, until, class: why, isFirst }) => ({
      name,
      state: weight === 0 && state !== 'unresolved' ? 'drained' : state,
      ...(until !== undefined && { until: new Date(until).toISOString() }),
      ...(why !== undefined && { class: why }),
      first: isFirst,
    }));
}
