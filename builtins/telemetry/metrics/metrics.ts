import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import type { Host } from '../../../host/host.ts';
import { mountJson } from '../../../host/http/json-route.ts';
import type { CircuitState } from '../../../host/pipeline/hooks.ts';
import { CONTENT_TYPE, exposition } from './exposition.ts';
import type { Family } from './family.ts';
import { processFigures } from './process-figures.ts';
import { ownFamilies, SeriesStore } from './series-store.ts';

/** `/metrics`: everything that is counted, the gauges as they stand, and the process itself. See docs/observability.md#figures. */
export default defineBuiltin({
  name: 'metrics',
  apply: ({ hooks }) => {
    let store: SeriesStore | undefined;
    hooks.figures.tap('metrics', (counters, { log }) => {
      store = new SeriesStore((figure, reason) => log.warn('a figure of a module is not kept', { figure, reason }));
      counters.attach(store);
    });
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
          answer: async () => ({
            status: 200,
            content: {
              type: CONTENT_TYPE,
              body: `${exposition([...(store?.families ?? []), ...gaugesOf(host)])}${await processFigures()}`,
            },
          }),
        },
      ]),
    );
  },
});

const CIRCUIT_VALUES: Readonly<Record<CircuitState, number>> = { closed: 0, open: 1, 'half-open': 2 };

function gaugesOf(host: Host): Iterable<Family> {
  const families = ownFamilies(['gauge']);
  host.hooks.gauges.call({ set: (name, labels, value) => families.get(name)?.set(labels, value) }, host);
  return families.values();
}
