import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { mayAsk, mayServe } from '../../host/pipeline/key-access.ts';
import { modelNotFound } from '../../host/pipeline/shown.ts';

/**
 * A key with a list of models or providers reaches nothing else: whatever is outside is not found, as if no target served it.
 * Before the plugins, so that it spends nothing, and again as the route is made: a plugin may have changed the model.
 */
export default defineBuiltin({
  name: 'key-access',
  apply: ({ hooks }) => hooks.assemble.tapPromise('key-access', async ({ hooks: pipeline, config: { aliases }, models, plugins, services: { redactor } }) => {
    pipeline.prepare.tap({ name: 'key-access', stage: ORDER.keyAccess }, ({ principal, model, surface, streaming, routing: { pinned } }) => {
      const limits = principal?.limits;
      if (!limits || plugins.mayChangeModel) return;
      const isServed = mayAsk(limits, model, aliases)
        && models.routeTargets(model, surface, streaming, pinned).some(({ virtualKey, serves }) => serves && mayServe(limits, virtualKey));
      if (!isServed) throw modelNotFound(model, redactor);
    });
    pipeline.route.tap({ name: 'key-access', stage: ORDER.keyTargets }, (targets, { principal, model }) => {
      const limits = principal?.limits;
      if (!limits || (!limits.models && !limits.providers)) return targets;
      const isAsked = mayAsk(limits, model, aliases);
      return targets.map((target) => (isAsked && mayServe(limits, target.virtualKey) ? target : { ...target, serves: false }));
    });
  }),
});
