import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import type { Host } from '../../../host/host.ts';
import { mountJson } from '../../../host/http/json-route.ts';
import type { CircuitState } from '../../../host/pipeline/hooks.ts';
import { CONTENT_TYPE, exposition } from './exposition.ts';
import { presentGauges } from './present-gauges.ts';
import { processFigures } from './process-figures.ts';
import { SeriesStore } from './series-store.ts';

/** `/metrics`: everything that is counted, the gauges as they stand, and the process itself. See docs/observability.md#figures. */
export default defineBuiltin({
  name: 'metrics',
  apply: ({ hooks }) => {
    let store: SeriesStore | undefined;
    let stop: (() => void) | undefined;
    hooks.figures.tap('metrics', (counters, { log }) => {
      store = new SeriesStore((figure, reason) => log.warn('a figure of a module is not kept', { figure, reason }));
      counters.attach(store);
    });
    hooks.open.tapPromise('metrics', async (host) => {
      const { team } = host;
      if (!team || !store) return;
      const { sendFigures, takeFigures } = await import('./worker-figures.ts');
      if (team.role === 'worker') stop = sendFigures(host, team, store);
      else takeFigures(team, store);
    });
    hooks.close.tapPromise('metrics', async () => stop?.());
    hooks.protect.tap('metrics', (protection) =>
      protection.add({ prefix: '/metrics', scope: 'read_only', hasPages: false }),
    );
    hooks.gauges.tap('metrics', (gauges, { connections, counters, current, certificates }) => {
      connections.report(counters);
      gauges.set('gateway_server_connections_current', { state: 'active' }, connections.active);
      gauges.set('gateway_server_connections_current', { state: 'idle' }, connections.idle);
      for (const { listener, loaded } of certificates)
        gauges.set('gateway_tls_not_after_seconds', { listener }, Math.floor(loaded.notAfter / 1000));
      for (const { virtualKey } of current?.targetList ?? []) {
        const state = current?.hooks.circuit.call(virtualKey);
        if (state !== undefined)
          gauges.set('gateway_circuit_breaker_state', { provider: virtualKey }, CIRCUIT_VALUES[state]);
      }
    });
    hooks.mount.tap({ name: 'metrics', stage: ORDER.probes }, (router, host) =>
      mountJson(router, host, [
        {
          method: 'GET',
          path: '/metrics',
          scope: 'read_only',
          headers: ['Cache-Control', 'no-store'],
          answer: async () => ({ status: 200, content: { type: CONTENT_TYPE, body: await scrape(host, store) } }),
        },
      ]),
    );
  },
});

async function scrape(host: Host, store: SeriesStore | undefined): Promise<string> {
  if (host.team?.role !== 'primary' || !store)
    return `${exposition([...(store?.families ?? []), ...presentGauges(host)])}${await processFigures()}`;
  const { summedFigures } = await import('./worker-figures.ts');
  const { gauges, ofProcesses } = await summedFigures(host, host.team, store);
  return `${exposition([...store.families, ...gauges])}${ofProcesses}`;
}

const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, open: 1, 'half-open': 2 };
