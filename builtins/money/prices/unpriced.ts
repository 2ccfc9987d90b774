import type { GatewayError, RouteTarget } from '../../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { DAY_MS, OncePer } from '../../../host/common/once-per.ts';
import type { GenerationDraft } from '../../../host/generation/generation.ts';
import { isLabel } from '../../../host/generation/groups/offered-names.ts';
import { shownModel } from '../../../host/pipeline/shown.ts';
import { routedTarget } from '../../../host/pipeline/turns/ranked-routes.ts';
import { isPriced, refuseUnpriced, sentBody } from '../../../host/pipeline/billing/unpriced.ts';

/**
 * Requests that are paid for in dollars, and models without a price: `refuse` leaves such targets out, and refuses the request where
 * none is left; `warn` and `allow` serve it, and count it.
 */
export default defineBuiltin({
  name: 'unpriced',
  apply: ({ hooks }) => {
    const told = new OncePer(DAY_MS);
    hooks.assemble.tapPromise('unpriced', async (draft) => {
      leaveOut(draft);
      count(draft, told);
    });
  },
});

function leaveOut({ hooks: pipeline, targets, services }: GenerationDraft): void {
  const byKey = { targets: new Map(targets.map((target) => [target.virtualKey, target])) };
  pipeline.route.tap({ name: 'unpriced', stage: ORDER.unpriced }, (ranked, exchange) => {
    const {
      routing: { unpriced, heard },
      model,
    } = exchange;
    if (unpriced?.rule !== 'refuse') return ranked;
    const priced: RouteTarget[] = [];
    for (const target of ranked) {
      const known = routedTarget(target.virtualKey, exchange, byKey);
      if (!target.serves || (known && isPriced(known, model, services, sentBody(exchange)))) priced.push(target);
      else heard?.target?.(target.virtualKey, 'no price');
    }
    if (!ranked.some(({ serves }) => serves) || priced.some(({ serves }) => serves)) return priced;
    const refusal = (): GatewayError => refuseUnpriced(exchange, `the model "${shownModel(model, services.redactor)}"`);
    const { group, fallback, explaining } = exchange.routing;
    if (!group && fallback === undefined && !explaining) throw refusal();
    exchange.routing.refusal = refusal; // a fallback of the group may have a price
    return priced;
  });
}

function count({ hooks: pipeline, models, groups, services }: GenerationDraft, told: OncePer): void {
  const { log, clock, counters, redactor } = services;
  pipeline.finished.tap(
    'unpriced',
    ({
      routing: { unpriced, isRefusedUnpriced, upstreamModel = '' },
      target,
      measured: { charged, costUsd },
      surface,
      id,
      model: asked,
      limits,
    }) => {
      if (!unpriced) return;
      const isServed = target !== undefined && charged !== undefined && costUsd === undefined;
      if (!isServed && !isRefusedUnpriced) return;
      const ofWord = unpriced.rule === 'warn' ? 'warned' : 'allowed';
      const action = isRefusedUnpriced ? 'refused' : ofWord;
      counters.add('gateway_unpriced_requests_total', {
        provider: target ?? 'none',
        model: isLabel(asked, { models, groups }) ? asked : 'unknown',
        action,
      });
      const model = shownModel(upstreamModel, redactor);
      if (action !== 'warned' || !told.isFirst(`${target} ${model}`, clock.now())) return;
      const account = limits?.account;
      const whose = account === undefined ? {} : { account };
      log.warn('model without a price', { target, model, surface, ...whose, action, trace_id: id });
    },
  );
}
