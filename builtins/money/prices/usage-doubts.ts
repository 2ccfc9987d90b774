import { defineBuiltin } from '../../../host/builtin.ts';
import { HOUR_MS, OncePer } from '../../../host/common/once-per.ts';
import { shownModel } from '../../../host/pipeline/shown.ts';

/** Tells of upstreams that report what cannot be: once for a target, its model and hour. */
export default defineBuiltin({
  name: 'usage-doubts',
  apply: ({ hooks }) => {
    const told = new OncePer(HOUR_MS);
    hooks.assemble.tapPromise('usage-doubts', async ({ hooks: pipeline, services: { log, clock, redactor } }) => {
      pipeline.finished.tap(
        'usage-doubts',
        ({ measured: { doubt }, target = '', routing: { upstreamModel = '' }, surface, id }) => {
          if (doubt === undefined) return;
          const model = shownModel(upstreamModel, redactor);
          if (told.isFirst(`${target} ${model}`, clock.now()))
            log.warn('usage is not believed', { target, model, surface, member: doubt, trace_id: id });
        },
      );
    });
  },
});
