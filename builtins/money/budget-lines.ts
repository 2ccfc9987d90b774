import { defineBuiltin } from '../../host/builtin.ts';
import { timestamp } from '../../host/common/timestamps.ts';
import { UsedRatios } from './used-ratios.ts';

/** What is said of budgets beside the requests that ask them: the line of a warning, and how much of them is spent. See docs/observability.md. */
export default defineBuiltin({
  name: 'budget-lines',
  apply: ({ hooks }) => {
    hooks.budgetMoved.tap(
      'budget-lines',
      ({ of: { kind, id }, unit, threshold, spent, limit, window: { rule, endsAt } }, { log }) =>
        log.warn('budget threshold reached', {
          ...(kind === 'key' ? { api_key_id: id } : { account: id }),
          unit,
          window: rule,
          threshold,
          spent,
          limit,
          ...(endsAt !== undefined && { ends_at: timestamp(endsAt) }),
        }),
    );
    const ratios = new UsedRatios();
    hooks.gauges.tap('budget-lines', (gauges, { current, stores, services: { clock }, log }) => {
      if (current) ratios.set(gauges, current.accounts, stores.ledgers.value, { now: clock.now(), log });
    });
  },
});
