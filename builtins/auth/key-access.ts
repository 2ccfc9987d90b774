import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GatewayError } from '../../host/contract/index.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import {
  listsModels,
  listsProviders,
  mayAsk,
  mayServe,
  notListed,
  whyLeftOut,
} from '../../host/pipeline/key-access.ts';
import { modelsIn } from '../../host/pipeline/named-models.ts';
import { isServed } from '../../host/pipeline/serving.ts';
import { modelNotFound } from '../../host/pipeline/shown.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { targetName } from '../../host/pipeline/turns/ranked-routes.ts';
import { whyUnstreamed } from '../../host/pipeline/unstreamed.ts';

/**
 * A key with a list of models or providers reaches nothing else: whatever is outside is not found, as if no target served it. The list holds for
 * every model that the body names, because it reaches a provider as the client wrote it. Before the plugins, so that it spends nothing, and for
 * the model that is routed by again as the route is made: a plugin may have changed it.
 */
export default defineBuiltin({
  name: 'key-access',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise(
      'key-access',
      async ({ hooks: pipeline, config: { aliases }, models, groups, targets, plugins, services: { redactor } }) => {
        const known = { models, groups, targets: new Map(targets.map((target) => [target.virtualKey, target])) };
        /** Notes which list it was, where the model is there for others. */
        const refused = (
          exchange: LiveExchange,
          by: 'key_models' | 'key_providers',
          error: GatewayError,
        ): GatewayError => {
          if (isServed(exchange, known, () => true, exchange.routing.pinned)) exchange.routing.refused = by;
          return error;
        };
        pipeline.prepare.tap({ name: 'key-access', stage: ORDER.keyAccess }, (exchange) => {
          const {
            limits,
            model,
            request,
            sent,
            routing: { pinned },
          } = exchange;
          if (!limits) return;
          if (listsModels(limits)) {
            const named = [...modelsIn(request, true), ...(sent ? modelsIn(sent.value, sent.wire !== 'gemini') : [])];
            const refusal = notListed(limits, named, aliases, redactor);
            if (refusal) throw refused(exchange, 'key_models', refusal);
            exchange.sent = sent?.inspected(); // of a name that stands there twice only the one that was looked at leaves
          }
          if (plugins.mayChangeModel) return;
          const isAsked = mayAsk(limits, model, aliases);
          const isFit = ({ virtualKey }: Target): boolean => isAsked && mayServe(limits, virtualKey);
          if (!isServed(exchange, known, isFit, pinned))
            throw refused(
              exchange,
              isAsked ? 'key_providers' : 'key_models',
              modelNotFound(model, redactor, whyUnstreamed(exchange, known, isFit)),
            );
        });
        pipeline.route.tap({ name: 'key-access', stage: ORDER.keyTargets }, (ranked, { limits, model, routing }) => {
          if (!limits || (!listsModels(limits) && !listsProviders(limits))) return ranked;
          const isAsked = mayAsk(limits, model, aliases);
          return ranked.map((target) => {
            if (isAsked && mayServe(limits, targetName(target.virtualKey, routing))) return target;
            if (target.serves)
              routing.heard?.target?.(
                target.virtualKey,
                whyLeftOut(limits, model, targetName(target.virtualKey, routing), aliases),
              );
            return { ...target, serves: false };
          });
        });
      },
    ),
});
