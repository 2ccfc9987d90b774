import { durationText } from '../amounts.ts';
import type { Plan } from '../plan/plan.ts';
import type { Entry } from '../reading.ts';

/** Retries, timeouts and cooldowns of all deployments. Source: docs.litellm.ai, "Config Settings", 2026-10-13. */
export function readReliability(root: Entry, plan: Plan): void {
  for (const from of [root.at('router_settings'), root.at('litellm_settings')]) {
    const retries = from.at('num_retries');
    if (Number.isInteger(retries.number) && (retries.number ?? -1) >= 0)
      plan.stateAll('retry', { value: { attempts: (retries.number ?? 0) + 1 }, entry: retries });
    const timeout = from.at('timeout', 'request_timeout');
    const duration = durationText((timeout.number ?? 0) * 1000);
    if (duration !== undefined) plan.stateAll('request_timeout', { value: duration, entry: timeout });
    readBreaker(from, plan);
  }
}

function readBreaker(from: Entry, plan: Plan): void {
  const [fails, cooldown] = [from.at('allowed_fails'), from.at('cooldown_time')];
  const threshold = Number.isInteger(fails.number) && (fails.number ?? -1) >= 0 ? (fails.number ?? 0) + 1 : undefined;
  const pause = durationText((cooldown.number ?? 0) * 1000);
  if (threshold === undefined && pause === undefined) return;
  const value = {
    ...(threshold !== undefined && { failure_threshold: threshold }),
    ...(pause !== undefined && { timeout: pause }),
  };
  if (threshold !== undefined)
    plan.stateAll('circuit_breaker', {
      value,
      entry: fails,
      difference: 'gw counts failures in a row, not within a minute',
    });
  if (pause !== undefined) plan.stateAll('circuit_breaker', { value, entry: cooldown });
}
