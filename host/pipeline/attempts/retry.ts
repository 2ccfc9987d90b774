import { isOfProvider } from '../../boundary/provider-boundary.ts';
import type { Clock } from '../../common/clock.ts';
import type { GatewayError } from '../../contract/index.ts';
import type { TargetConfig } from '../../config/document.ts';
import { classOf } from '../../upstream/fault-classes.ts';
import type { CredentialStep } from '../credentials/visit.ts';

/** When a target is tried again. Defaults: one try; 100 ms base. */
export interface RetryPolicy {
  /** Tries in all. */
  readonly attempts: number;
  /** Statuses that are worth another try, instead of the usual ones. */
  readonly statuses: ReadonlySet<number> | undefined;
  readonly initialBackoffMs: number;
}

/** The longest wait the gateway makes a client sit through, for hints and backoff alike. */
export const MAX_WAIT_MS = 30_000;

export function retryPolicy({ retry, retry_on_status: listed }: TargetConfig): RetryPolicy {
  const statuses = listed ?? retry?.on_status_codes ?? [];
  return {
    attempts: Math.max(1, retry?.attempts ?? 1),
    statuses: statuses.length > 0 ? new Set(statuses) : undefined,
    initialBackoffMs: retry?.initial_backoff_ms || 100,
  };
}

/** Seconds that a budget looks back, retries that are always free in that time, and what share of the requests the rest may be. */
const WINDOW_S = 10;
const FREE_RETRIES = 10;
const RETRY_SHARE = 0.2;

/** How often a target may be tried again, so that retries do not bury one that is down. See docs/reference/data-plane.md#retries. */
export class RetryBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** What happened in each of the last seconds, by the second modulo their number. */
  readonly #seconds = Array.from({ length: WINDOW_S }, () => ({ requests: 0, retries: 0 }));
  #now: number;
  #requests = 0;
  #retries = 0;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#now = this.#second();
  }

  /** A request reaches the target for the first time. */
  countRequest(): void {
    this.#moveOn();
    this.#slot(this.#now).requests += 1;
    this.#requests += 1;
  }

  /** Takes one retry; false when there is none left. */
  take(): boolean {
    this.#moveOn();
    if (this.#retries >= Math.max(FREE_RETRIES, RETRY_SHARE * this.#requests)) return false;
    this.#slot(this.#now).retries += 1;
    this.#retries += 1;
    return true;
  }

  /** Forgets the seconds that lie too far back. */
  #moveOn(): void {
    const now = this.#second();
    for (let second = Math.max(this.#now, now - WINDOW_S) + 1; second <= now; second += 1) {
      const slot = this.#slot(second);
      this.#requests -= slot.requests;
      this.#retries -= slot.retries;
      slot.requests = 0;
      slot.retries = 0;
    }
    this.#now = now;
  }

  #second(): number {
    return Math.floor(this.#clock.monotonic() / 1000);
  }

  #slot(second: number): { requests: number; retries: number } {
    return this.#seconds[second % WINDOW_S] as { requests: number; retries: number };
  }
}

/** What of the routing strategy decides whether another target follows a failed one. */
export interface FailoverRules {
  /** Whether a failed target is followed by the next. */
  readonly advances: boolean;
  /** Reasons and statuses that advance although they would not by default. */
  readonly failoverOn: ReadonlySet<string>;
  readonly failoverStatuses: ReadonlySet<number>;
}

export const ADVANCE: NextStep = Object.freeze({ step: 'advance' });
export const STOP: NextStep = Object.freeze({ step: 'stop' });

/** What follows a failed attempt. Another credential of a target follows inside it, whatever the policy of retries. */
export type NextStep =
  | { readonly step: 'again'; readonly waitMs: number }
  | { readonly step: 'advance' }
  | CredentialStep
  | { readonly step: 'stop' };

export interface RetryQuestion {
  readonly error: GatewayError;
  /** Number of the try on this target that failed, from 1. */
  readonly tries: number;
  readonly policy: RetryPolicy;
  /** Absent where the policy never tries again. */
  readonly budget: RetryBudget | undefined;
  readonly strategy: FailoverRules;
  /** The target's credentials failed, as far as they were tried: another target may do better. */
  readonly isOfCredentials?: boolean | undefined;
  /** Milliseconds the request has left; `undefined` without a bound. */
  readonly leftMs: number | undefined;
  readonly random: () => number;
}

/** Same target, next target, or stop. */
export function nextStep(question: RetryQuestion): NextStep {
  const { error, tries, policy, budget, strategy, isOfCredentials, leftMs, random } = question;
  if (tries < policy.attempts && isRetryable(error, policy)) {
    const waitMs = error.retryAfterMs ?? backoffMs(policy, tries, random);
    const isWorthIt = waitMs <= MAX_WAIT_MS && (leftMs === undefined || waitMs < leftMs);
    if (isWorthIt && budget?.take() !== false) return { step: 'again', waitMs };
  }
  return strategy.advances && advances(error, strategy, isOfCredentials) ? ADVANCE : STOP;
}

/** Uniform in [0, base × 2^(tries−1)), capped. */
function backoffMs(policy: RetryPolicy, tries: number, random: () => number): number {
  return random() * Math.min(MAX_WAIT_MS, policy.initialBackoffMs * 2 ** (tries - 1));
}

/** Local refusals and the request's own end are never worth another try on the same target. */
function isRetryable(error: GatewayError, policy: RetryPolicy): boolean {
  const { fault } = error;
  if (!fault) return isAttemptTimeout(error);
  if (classOf(fault).isOver === true) return false;
  if (fault.status === undefined) return true;
  if (policy.statuses) return policy.statuses.has(fault.status);
  return fault.status === 408 || fault.status === 429 || fault.status >= 500;
}

/** Whether another target may do better, be it by a strategy that goes on to it or as a fallback of a group of models (docs/reference/data-plane.md#failures-that-go-on-to-the-next-target). */
export function advances(error: GatewayError, strategy: FailoverRules, isOfCredentials = false): boolean {
  if (isOfCredentials) return true;
  const { fault, code } = error;
  if (!fault)
    return (
      code === 'upstream_unavailable' || code === 'provider_saturated' || isAttemptTimeout(error) || isOfProvider(error)
    );
  const { status, reason } = fault;
  if (reason !== undefined && strategy.failoverOn.has(reason)) return true;
  if (status !== undefined && strategy.failoverStatuses.has(status)) return true;
  switch (classOf(fault).advances) {
    case 'always':
      return true;
    case 'listed':
      return false;
    default:
      return status === undefined || status === 408 || status === 429 || status >= 500 || status < 400;
  }
}

/** The attempt's own clock, as against the request's: that one cancels the exchange, and the walk stops before asking. */
function isAttemptTimeout(error: GatewayError): boolean {
  return error.code === 'gateway_timeout';
}
