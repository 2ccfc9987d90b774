import { defineBuiltin } from '../../host/builtin.ts';

/** Limits that replicas hold together, on a server that speaks the protocol of Redis. Nothing of it is loaded while none is named. */
export default defineBuiltin({
  name: 'shared-limits',
  apply: ({ hooks }) => {
    let close: (() => Promise<void>) | undefined;
    hooks.open.tapPromise('shared-limits', async (host) => {
      const { state } = host.settings;
      if (state) close = await (await import('./open-redis.ts')).openRedis(host, state);
    });
    hooks.gauges.tap('shared-limits', (gauges, { limits, settings }) => {
      if (!settings.state) return;
      gauges.set('gateway_state_up', { backend: 'redis' }, limits.isUp ? 1 : 0);
      gauges.set('gateway_replicas', { state: 'live' }, limits.replicas);
    });
    hooks.examine.tapPromise('shared-limits', async ({ host, add }) => {
      const { state } = host.settings;
      if (state) add('Shared state', await (await import('./examine-state.ts')).examineState(state));
    });
    hooks.close.tapPromise('shared-limits', async () => close?.());
  },
});
