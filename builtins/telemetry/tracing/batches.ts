import type { Log } from '../../../host/contract/index.ts';
import type { Variables } from '../../../host/environment/variables.ts';

/** How spans wait and leave. */
export interface Batches {
  /** Spans that may wait; more are lost. */
  readonly mostSpans: number;
  /** Spans of one export, which leaves as soon as so many wait. */
  readonly batchSpans: number;
  /** Milliseconds that a span waits for others. */
  readonly delayMs: number;
  /** Milliseconds that one export may take, retries included. */
  readonly exportMs: number;
}

/** Longest delay that a timer can hold. */
const MOST = 2 ** 31 - 1;

const TIMEOUTS = ['OTEL_BSP_EXPORT_TIMEOUT', 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'];

/**
 * What the variables of OpenTelemetry's batch processor say, with its defaults (OpenTelemetry specification, "Environment Variables", 2026-10-30); an
 * export has 10 s (docs/reference/observability.md#where-spans-go) unless one of its time limits is set. A value that is not such a number is warned of and has no effect.
 */
export function batchesOf(variables: Variables, log: Log): Batches {
  const number = (name: string, least: number): number | undefined => {
    const written = variables[name]?.trim() ?? '';
    if (written === '') return undefined;
    const value = Number(written);
    if (/^\d+$/.test(written) && value >= least && value <= MOST) return value;
    log.warn(
      `${name} is ${JSON.stringify(written)}, which is not an integer from ${least} to ${MOST}; it has no effect`,
    );
    return undefined;
  };
  const mostSpans = number('OTEL_BSP_MAX_QUEUE_SIZE', 1) ?? 2048;
  const timeouts = TIMEOUTS.map((name) => number(name, 1))
    .filter((ms) => ms !== undefined)
    .toSorted((a, b) => a - b);
  return {
    mostSpans,
    batchSpans: Math.min(mostSpans, number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 1) ?? 512),
    delayMs: number('OTEL_BSP_SCHEDULE_DELAY', 0) ?? 5000,
    exportMs: timeouts[0] ?? 10_000,
  };
}
