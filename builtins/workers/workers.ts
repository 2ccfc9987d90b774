import { defineBuiltin } from '../../host/builtin.ts';

/**
 * What several processes of one gateway have in common: a worker fills its stores with those of the primary, which answers what workers ask. Nothing of it is loaded
 * by a gateway of one process. See docs/workers.md.
 */
export default defineBuiltin({
  name: 'workers',
  apply: ({ hooks }) => {
    let stop: (() => void) | undefined;
    hooks.open.tapPromise('workers', async (host) => {
      const { team } = host;
      if (!team) return;
      if (team.role === 'primary') {
        const { openPrimary } = await import('./open-primary.ts');
        openPrimary(host, team);
      } else {
        const { openWorker } = await import('./open-worker.ts');
        stop = await openWorker(host, team);
      }
    });
    hooks.gauges.tap('workers', (gauges, { team }) => {
      if (team?.role !== 'primary') return;
      for (let worker = 1; worker <= team.size; worker += 1)
        gauges.set('gateway_worker_up', { worker: String(worker) }, team.isUp(worker) ? 1 : 0);
    });
    hooks.close.tapPromise('workers', async () => stop?.());
  },
});
