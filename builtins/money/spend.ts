import { defineBuiltin } from '../../host/builtin.ts';
import { foldedSpend } from '../../host/stores/spend/folded-spend.ts';
import { MemorySpend } from '../../host/stores/spend/memory-spend.ts';
import { SpendRows } from './spend-rows.ts';

/**
 * Keeps what every request has cost, by hour: one row for what is alike. An exchange counts as one request, where a target was tried or
 * a plugin answered. See docs/stores.md#spend.
 */
export default defineBuiltin({
  name: 'spend',
  apply: ({ hooks }) => {
    const rows = new SpendRows();
    hooks.open.tapPromise('spend', async ({ stores, settings, services: { clock, counters } }) => {
      if (!settings.spend.isKept || settings.keyStore.backend !== 'memory') return;
      stores.spend.supply('memory', new MemorySpend(clock.now, foldedSpend(counters), () => stores.ledgers.value));
    });
    hooks.assemble.tapPromise('spend', async ({ hooks: pipeline }, host) => {
      const spend = host?.stores.spend.value;
      if (!spend) return;
      pipeline.finished.tap('spend', (exchange) => {
        if (exchange.attempts > 0 || exchange.answeredBy !== undefined) spend.add(rows.of(exchange));
      });
    });
  },
});
