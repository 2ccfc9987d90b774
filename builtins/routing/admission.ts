import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import { catalogEntryOf } from '../../host/pipeline/billing/catalog-entry.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { mayServe } from '../../host/pipeline/key-access.ts';
import { firstServed, groupServing, isServed } from '../../host/pipeline/serving.ts';
import { modelNotFound, shownModel } from '../../host/pipeline/shown.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { whyUnstreamed } from '../../host/pipeline/unstreamed.ts';
import type { Catalog } from '../../host/common/catalog.ts';

/**
 * Refuses a model that no configured target can serve before any plugin runs, so that a typo spends no rate and no
 * budget. It checks nothing while a transform might still change the model.
 */
export default defineBuiltin({
  name: 'admission',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('admission', async ({ hooks: pipeline, models, groups, plugins, targets, services }) => {
      if (plugins.mayChangeModel) return;
      const { log, redactor } = services;
      const known = { models, groups, targets: new Map(targets.map((target) => [target.virtualKey, target])) };
      const isFit = (target: Target, exchange: LiveExchange): boolean =>
        !isOfOtherKind(exchange, target, services.catalog);
      /** The routes of a group are the operator's: the first one that the caller reaches says what kind of model it is. */
      const isFirstFit = (exchange: LiveExchange): boolean => {
        const limits = exchange.limits ?? {};
        const isAllowed = ({ virtualKey }: Target): boolean => mayServe(limits, virtualKey);
        const { pinned } = exchange.routing;
        const first =
          firstServed(exchange, known, isAllowed, pinned) ?? firstServed(exchange, known, () => true, pinned);
        return first !== undefined && isFit(first, exchange);
      };
      pipeline.prepare.tap({ name: 'admission', stage: ORDER.admission }, (exchange) => {
        const { model } = exchange;
        const { pinned } = exchange.routing;
        const group = groups && groupServing(model, groups, pinned);
        if (group && exchange.sent ? isFirstFit(exchange) : isServed(exchange, known, isFit, pinned)) return;
        const absent = targets.filter(({ provider }) => !provider).map(({ virtualKey }) => virtualKey);
        if (absent.length > 0 && !exchange.routing.explaining)
          log.warn('no registered target serves the model', {
            model: shownModel(model, redactor),
            unregistered: absent.join(', '),
            ...(group && { group: group.name }),
            trace_id: exchange.id,
          });
        throw modelNotFound(model, redactor, whyUnstreamed(exchange, known));
      });
    }),
});

/**
 * Whether the catalog knows the model as one that makes vectors where the request wants an answer, or the reverse. Asked for clients of
 * wires of their own alone: these have other addresses for vectors. What the catalog does not know is tried. See docs/reference/ingress.md#models-of-the-other-kind.
 */
function isOfOtherKind({ sent, surface, model, isCounting }: LiveExchange, target: Target, catalog: Catalog): boolean {
  if (!sent || isCounting || !target.provider) return false;
  const mode = catalogEntryOf(target, target.upstreamModel(model), catalog)?.mode;
  return mode === (surface === 'embeddings' ? 'chat' : 'embedding');
}
