import { defineBuiltin } from '../../host/builtin.ts';
import { type GatewayError, type Log, type Surface, SURFACES } from '../../host/contract/index.ts';
import { errorType } from '../../host/pipeline/error-type.ts';
import type { FailedTry } from '../../host/pipeline/hooks.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { MAX_WAIT_MS } from '../../host/pipeline/attempts/retry.ts';
import { shownModel } from '../../host/pipeline/shown.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { proxyStatusOf } from '../../host/upstream/fault.ts';
import { classOf } from '../../host/upstream/fault-classes.ts';

/** Log lines and figures of targets that fail: retries, failovers, circuits that open and close. See docs/observability.md#log-lines. */
export default defineBuiltin({
  name: 'target-lines',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('target-lines', async ({ hooks: pipeline, carryover, services }) => {
      const { log, counters, redactor, clock } = services;
      const corrections = carryover.lease('target-lines corrections', () => new Hourly());
      const count = ({ virtualKey }: Target, error: GatewayError): void =>
        counters.add('gateway_provider_errors_total', { provider: virtualKey, error_type: errorType(error) });

      pipeline.tryFailed.tap('target-lines', (failed) => {
        logFailedTry(log, failed);
        if (failed.next.step === 'advance') {
          count(failed.target, failed.error); // a failure that a later target hides still counts against its own
          logHiddenRefusal(log, failed);
        }
      });
      pipeline.corrected.tap('target-lines', ({ exchange, target: { virtualKey }, kind, result }) => {
        if (corrections.isNew(`${virtualKey} ${kind}`, clock.monotonic()))
          log.warn('a request was corrected after the provider refused it', {
            target: virtualKey,
            model: shownModel(exchange.routing.upstreamModel ?? exchange.model, redactor),
            kind,
            trace_id: exchange.id,
          });
        counters.add('gateway_upstream_repairs_total', { provider: virtualKey, kind, result });
      });
      pipeline.finished.tap('target-lines', (exchange, outcome) => {
        const { surface, error, lastTarget } = exchange;
        if (
          error &&
          lastTarget &&
          outcome !== 'rejected' &&
          !isRelayedRefusal(surface, error) &&
          !isSpoiled(exchange, error)
        )
          count(lastTarget, error);
      });
      pipeline.circuitMoved.tap('target-lines', ({ from, to, attempt: { target, exchange } }) => {
        // Half-open decides nothing: the probe's outcome does.
        if (to !== 'half-open')
          log.warn('circuit breaker moved', { target: target.virtualKey, from, to, trace_id: exchange.id });
      });
    }),
});

const HOUR_MS = 3_600_000;

/** What was said within the last hour; keys are those of targets, and few. */
class Hourly {
  readonly #saidAt = new Map<string, number>();

  /** Notes that it is said now, unless it was within the hour. Monotonic milliseconds. */
  isNew(key: string, now: number): boolean {
    const before = this.#saidAt.get(key);
    if (before !== undefined && now - before < HOUR_MS) return false;
    this.#saidAt.set(key, now);
    return true;
  }
}

/** A 4xx that went on to the client as it came: an error of the request, and none of the provider's (docs/reference/observability.md#when-requests-are-counted). */
function isRelayedRefusal(surface: Surface, { fault }: GatewayError): boolean {
  return SURFACES[surface].translator === undefined && fault?.status !== undefined && fault.status < 500;
}

/** A whole answer that a plugin failed on: its provider has served it. Of a stream that a plugin ended midway the figures tell (docs/reference/observability.md#when-requests-are-counted). */
function isSpoiled({ measured: { ttftMs }, delivery: { isSent } }: LiveExchange, { code }: GatewayError): boolean {
  return code === 'plugin_error' && ttftMs === undefined && !isSent;
}

/** What the provider said of the gateway's account. Only the log has it: the client gets the next target's answer. */
function logHiddenRefusal(log: Log, { exchange, target, error }: FailedTry): void {
  if (classOf(error.fault).isPrivate === true)
    log.warn('the account at a provider was refused, and the next target is tried', {
      target: target.virtualKey,
      'fault.reason': error.fault?.reason,
      error,
      trace_id: exchange.id,
    });
}

function logFailedTry(
  log: Log,
  { exchange, target: { virtualKey: target, retry }, error, tries, next }: FailedTry,
): void {
  const { retryAfterMs = 0 } = error;
  const proxyStatus = proxyStatusOf(error);
  if (next.step === 'again')
    log.info('retrying target', {
      target,
      attempt: exchange.attempts + 1,
      ...(proxyStatus !== undefined && { proxy_status: proxyStatus }),
      trace_id: exchange.id,
    });
  else if (next.step === 'credential')
    log.info('retrying target', {
      target,
      attempt: exchange.attempts + 1,
      credential: next.from,
      reason: 'credential',
      class: next.class,
      trace_id: exchange.id,
    });
  else if (tries < retry.attempts && retryAfterMs > MAX_WAIT_MS) {
    log.info('abandoning target: Retry-After exceeds the cap', {
      target,
      retry_after: Math.ceil(retryAfterMs / 1000),
      trace_id: exchange.id,
    });
  }
}
