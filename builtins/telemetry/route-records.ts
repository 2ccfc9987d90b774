import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { RouteRecord } from '../../host/pipeline/route-record.ts';

/** Notes how requests are routed, for the rows of the request log; without a store and a plugin that writes rows, nothing of it is tapped. */
export default defineBuiltin({
  name: 'route-records',
  apply: ({ hooks }) => {
    hooks.assemble.tapPromise('route-records', async ({ hooks: pipeline, config, registry, targets }, host) => {
      const writesRows = config.plugins.some(
        ({ name, enabled }) => enabled && registry.plugins.get(name)?.type === 'logging',
      );
      if (!host?.stores.requestLog.value || !writesRows) return;
      const by = {
        strategy: config.strategy.mode,
        groupStrategies: config.models?.map(({ strategy }) => strategy.mode) ?? [],
        targets: new Map(targets.map((target) => [target.virtualKey, target])),
      };

      pipeline.prepare.tap({ name: 'route-records', stage: ORDER.tracing }, ({ routing, model }) => {
        if (!routing.explaining) routing.record = new RouteRecord(model, by);
      });
      pipeline.route.tap({ name: 'route-records', stage: ORDER.routeBegins }, (all, { routing }) => {
        routing.record?.began(all, routing);
        return all;
      });
      pipeline.route.tap({ name: 'route-records', stage: ORDER.routeEnds }, (ordered, { routing: { record } }) => {
        record?.ordered(ordered);
        return ordered;
      });
      pipeline.settled.tap('route-records', (attempt) => attempt.exchange.routing.record?.attempted(attempt));
    });
  },
});
