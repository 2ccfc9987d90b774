import { defineBuiltin, ORDER } from '../../host/builtin.ts';

/** Resolves aliases before anything else sees the model: one hop, exact match. */
export default defineBuiltin({
  name: 'aliases',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('aliases', async ({ hooks: pipeline, config }) => {
      const aliases = new Map(Object.entries(config.aliases));
      if (aliases.size === 0) return;
      pipeline.prepare.tap({ name: 'aliases', stage: ORDER.aliases }, (exchange) => {
        const model = aliases.get(exchange.model);
        if (model === undefined) return;
        exchange.model = model;
        exchange.request = { ...exchange.request, model };
      });
    }),
});
