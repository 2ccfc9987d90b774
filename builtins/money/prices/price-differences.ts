import { defineBuiltin } from '../../../host/builtin.ts';
import { DAY_MS, OncePer } from '../../../host/common/once-per.ts';
import { isLabel } from '../../../host/generation/groups/offered-names.ts';
import { shownModel } from '../../../host/pipeline/shown.ts';

/** Counts answers whose vendor reports another cost than the catalog makes of them, and tells of them: once for a target, its model and day. */
export default defineBuiltin({
  name: 'price-differences',
  apply: ({ hooks }) => {
    const told = new OncePer(DAY_MS);
    hooks.assemble.tapPromise('price-differences', async ({ hooks: pipeline, models, groups, services }) => {
      const { log, clock, counters, redactor } = services;
      pipeline.finished.tap(
        'price-differences',
        ({ measured: { difference }, target = '', routing: { upstreamModel = '' }, surface, id, model: asked }) => {
          if (difference === undefined) return;
          counters.add('gateway_price_differences_total', {
            provider: target,
            model: isLabel(asked, { models, groups }) ? asked : 'unknown',
          });
          const model = shownModel(upstreamModel, redactor);
          const { line, computedUsd, reportedUsd } = difference;
          if (told.isFirst(`${target} ${model}`, clock.now()))
            log.warn('reported cost differs', {
              target,
              model,
              surface,
              line,
              computed_usd: computedUsd,
              reported_usd: reportedUsd,
              trace_id: id,
            });
        },
      );
    });
  },
});
