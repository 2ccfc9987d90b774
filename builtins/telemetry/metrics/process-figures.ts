/** Gauges that are called counters; each has a twin by type under a better name. `/debug/vars` tells what the process waits for. */
const MISNAMED = [
  'nodejs_active_resources_total',
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
] as const;

/**
 * CPU, memory, handles, event loop and garbage collection, as prom-client names them. They are the process's, so its registry of the
 * process keeps them, once however many gateways run in it. Loaded at the first scrape.
 */
export async function processFigures(): Promise<string> {
  const {
    default: { collectDefaultMetrics, register },
  } = await import('prom-client');
  if (!register.getSingleMetric('process_cpu_user_seconds_total')) {
    collectDefaultMetrics({ register });
    for (const name of MISNAMED) register.removeSingleMetric(name);
  }
  return (await register.metrics()).replaceAll(/ Nan$/gm, ' NaN'); // of an event loop without a measurement yet
}
