import { type ChatRequest, SURFACES } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';

/** One token ceiling for plugins and providers: `max_completion_tokens`, when the client sent it, is both. */
export default defineBuiltin({
  name: 'ceilings',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('ceilings', async ({ hooks: pipeline }) => {
      pipeline.prepare.tap({ name: 'ceilings', stage: ORDER.ceilings }, (exchange) => {
        if (!SURFACES[exchange.surface].isChat) return;
        const request = exchange.request as ChatRequest;
        const { max_completion_tokens: ceiling } = request;
        if (ceiling === undefined || ceiling === request.max_tokens) return;
        exchange.request = { ...request, max_tokens: ceiling };
      });
    }),
});
