import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { modelNotFound, shownModel } from '../../host/pipeline/shown.ts';

/**
 * Refuses a model that no configured target can serve before any plugin runs, so that a typo spends no rate and no
 * budget. It checks nothing while a transform might still change the model.
 */
export default defineBuiltin({
  name: 'admission',
  apply: ({ hooks }) => hooks.assemble.tapPromise('admission', async ({ hooks: pipeline, models, plugins, targets, services: { log, redactor } }) => {
    if (plugins.mayChangeModel) return;
    pipeline.prepare.tap({ name: 'admission', stage: ORDER.admission }, (exchange) => {
      const { model, surface, streaming } = exchange;
      if (models.routeTargets(model, surface, streaming, exchange.routing.pinned).some(({ serves }) => serves)) return;
      const absent = targets.filter(({ provider }) => !provider).map(({ virtualKey }) => virtualKey);
      if (absent.length > 0 && !exchange.routing.explaining) log.warn('no registered target serves the model', { model: shownModel(model, redactor), unregistered: absent.join(', '), trace_id: exchange.id });
      throw modelNotFound(model, redactor);
    });
  }),
});
