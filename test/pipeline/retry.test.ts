import { expect } from 'chai';
import { ERRORS, type ErrorCode, GatewayError, type UpstreamFault } from '../../host/contract/index.ts';
import type { BoundStrategy } from '../../host/generation/bind-strategy.ts';
import {
  type NextStep,
  nextStep,
  RetryBudget,
  retryPolicy,
  type RetryQuestion,
} from '../../host/pipeline/attempts/retry.ts';

const strategyOf = (more: Partial<BoundStrategy> = {}): BoundStrategy =>
  ({ advances: true, failoverOn: new Set<string>(), failoverStatuses: new Set<number>(), ...more }) as BoundStrategy;

const upstream = (fault: UpstreamFault, retryAfterMs?: number): GatewayError =>
  new GatewayError('upstream_error', 'x', { fault, retryAfterMs });
const status = (code: number, retryAfterMs?: number): GatewayError =>
  upstream({ kind: 'status', status: code }, retryAfterMs);
const transport = upstream({ kind: 'transport' });

function decide(error: GatewayError, more: Partial<RetryQuestion> = {}): NextStep {
  return nextStep({
    error,
    tries: 1,
    policy: retryPolicy({ virtual_key: 'a', retry: { attempts: 3 } }),
    budget: undefined,
    strategy: strategyOf(),
    leftMs: undefined,
    random: () => 0.5,
    ...more,
  });
}

const isRetried = (error: GatewayError, onStatuses?: readonly number[]): boolean =>
  decide(error, {
    policy: retryPolicy({
      virtual_key: 'a',
      retry: { attempts: 3 },
      ...(onStatuses && { retry_on_status: onStatuses }),
    }),
  }).step === 'again';

/** Errors that are neither an upstream's status nor a failed connection. */
const LOCAL: readonly ErrorCode[] = [
  'client_canceled',
  'upstream_unavailable',
  'provider_saturated',
  'unsupported_parameter',
  'model_not_found',
  'plugin_error',
  'routing_error',
];

describe('retry policy', () => {
  it('is one try with a base of 100 ms unless configured', () => {
    expect(retryPolicy({ virtual_key: 'a' })).to.deep.equal({
      attempts: 1,
      statuses: undefined,
      initialBackoffMs: 100,
    });
    expect(retryPolicy({ virtual_key: 'a', retry: { attempts: 0, initial_backoff_ms: 0 } })).to.deep.equal({
      attempts: 1,
      statuses: undefined,
      initialBackoffMs: 100,
    });
  });

  it('takes its statuses from either key, and none from an empty list', () => {
    expect([...(retryPolicy({ virtual_key: 'a', retry_on_status: [409] }).statuses ?? [])]).to.deep.equal([409]);
    expect([...(retryPolicy({ virtual_key: 'a', retry: { on_status_codes: [409] } }).statuses ?? [])]).to.deep.equal([
      409,
    ]);
    expect(retryPolicy({ virtual_key: 'a', retry_on_status: [] }).statuses).to.equal(undefined);
  });
});

describe('the same target again', () => {
  it('after 408, 429 and every 5xx, and no other status, without a list', () => {
    const retried = Array.from({ length: 500 }, (_, index) => 100 + index).filter((code) => isRetried(status(code)));
    expect(retried).to.deep.equal([408, 429, ...Array.from({ length: 100 }, (_, index) => 500 + index)]);
  });

  it('after the listed statuses alone, with a list', () => {
    const listed = [400, 409, 503];
    expect([400, 408, 409, 429, 500, 503].filter((code) => isRetried(status(code), listed))).to.deep.equal(listed);
  });

  it('after every failure without a status, even with a list', () => {
    for (const kind of ['transport', 'timeout', 'reply'] as const) {
      expect(isRetried(upstream({ kind })), kind).to.equal(true);
      expect(isRetried(upstream({ kind }), [500]), kind).to.equal(true);
    }
  });

  it('after its own deadline', () => {
    expect(isRetried(new GatewayError('gateway_timeout', 'x'))).to.equal(true);
  });

  for (const code of LOCAL)
    it(`never after ${code}`, () => {
      expect(isRetried(new GatewayError(code, 'x'))).to.equal(false);
    });

  it('until its tries are used up', () => {
    expect([1, 2, 3, 4].map((tries) => decide(transport, { tries }).step)).to.deep.equal([
      'again',
      'again',
      'advance',
      'advance',
    ]);
  });
});

describe('the wait before another try', () => {
  const waits = (random: number, base = 100): number[] =>
    [1, 2, 3, 4].map((tries) => {
      const next = decide(transport, {
        tries,
        random: () => random,
        policy: { attempts: 99, statuses: undefined, initialBackoffMs: base },
      });
      return next.step === 'again' ? next.waitMs : Number.NaN;
    });

  it('is uniform between 0 and a bound that doubles', () => {
    expect(waits(0)).to.deep.equal([0, 0, 0, 0]);
    expect(waits(0.5)).to.deep.equal([50, 100, 200, 400]);
    expect(waits(0.25, 1000)).to.deep.equal([250, 500, 1000, 2000]);
  });

  it('never exceeds 30 s', () => {
    const next = decide(transport, {
      tries: 60,
      random: () => 0.999,
      policy: { attempts: 99, statuses: undefined, initialBackoffMs: 100 },
    });
    expect(next.step === 'again' && next.waitMs)
      .to.be.a('number')
      .within(29_000, 30_000);
  });

  it("is exactly the upstream's hint", () => {
    expect(decide(status(429, 1234))).to.deep.equal({ step: 'again', waitMs: 1234 });
    expect(decide(status(500, 30_000))).to.deep.equal({ step: 'again', waitMs: 30_000 });
  });

  it('is not waited for a hint beyond 30 s: the target is left', () => {
    expect(decide(status(429, 30_001))).to.deep.equal({ step: 'advance' });
    expect(decide(status(429, 30_001), { strategy: strategyOf({ advances: false }) })).to.deep.equal({ step: 'stop' });
  });

  it('is not waited when the request would end before it', () => {
    expect(decide(status(429, 1000), { leftMs: 1000 })).to.deep.equal({ step: 'advance' });
    expect(decide(status(429, 1000), { leftMs: 1001 })).to.deep.equal({ step: 'again', waitMs: 1000 });
  });
});

describe('the next target', () => {
  const once = retryPolicy({ virtual_key: 'a' });
  const stepAfter = (error: GatewayError, strategy = strategyOf()): string =>
    decide(error, { policy: once, strategy }).step;

  it('after 408, 429, 3xx, 5xx and a 2xx of no use; every other 4xx stops', () => {
    const codes = Array.from({ length: 400 }, (_, index) => 200 + index).filter((code) => code !== 200);
    const expected = codes.filter((code) => code < 400 || code === 408 || code === 429 || code >= 500);
    expect(codes.filter((code) => stepAfter(status(code)) === 'advance')).to.deep.equal(expected);
  });

  it("after a failure without a status, an open circuit, saturation and the attempt's own deadline", () => {
    for (const kind of ['transport', 'timeout', 'reply'] as const)
      expect(stepAfter(upstream({ kind })), kind).to.equal('advance');
    for (const code of ['upstream_unavailable', 'provider_saturated', 'gateway_timeout'] as const)
      expect(stepAfter(new GatewayError(code, 'x')), code).to.equal('advance');
  });

  it('never after what another target cannot help', () => {
    for (const code of Object.keys(ERRORS) as ErrorCode[]) {
      if (['upstream_unavailable', 'provider_saturated', 'gateway_timeout'].includes(code)) continue;
      expect(stepAfter(new GatewayError(code, 'x')), code).to.equal('stop');
    }
  });

  it('after context-length and content-policy faults only when the strategy names them', () => {
    for (const reason of ['context_length', 'content_policy'] as const) {
      const error = upstream({ kind: 'status', status: 400, reason });
      expect(stepAfter(error)).to.equal('stop');
      expect(stepAfter(error, strategyOf({ failoverOn: new Set([reason]) }))).to.equal('advance');
      expect(stepAfter(error, strategyOf({ failoverOn: new Set(['something_else']) }))).to.equal('stop');
    }
  });

  it('after further statuses that the strategy names', () => {
    expect(stepAfter(status(401), strategyOf({ failoverStatuses: new Set([401]) }))).to.equal('advance');
    expect(stepAfter(status(403), strategyOf({ failoverStatuses: new Set([401]) }))).to.equal('stop');
  });

  it('is never tried by a strategy that names its target', () => {
    const named = strategyOf({
      advances: false,
      failoverOn: new Set(['context_length']),
      failoverStatuses: new Set([401]),
    });
    for (const error of [status(500), status(401), transport, new GatewayError('upstream_unavailable', 'x')])
      expect(stepAfter(error, named)).to.equal('stop');
  });
});

describe('the budget for retries', () => {
  function budgetAt(startMs = 0): {
    budget: RetryBudget;
    wait: (ms: number) => void;
    granted: (asked: number) => number;
    requests: (count: number) => void;
  } {
    let nowMs = startMs;
    const budget = new RetryBudget({ monotonic: () => nowMs });
    return {
      budget,
      wait: (ms) => {
        nowMs += ms;
      },
      granted: (asked) => Array.from({ length: asked }, () => budget.take()).filter(Boolean).length,
      requests: (count) => {
        for (let index = 0; index < count; index += 1) budget.countRequest();
      },
    };
  }

  it('is ten in ten seconds, whatever the number of requests', () => {
    const { wait, granted, requests } = budgetAt(123_456.7);
    requests(1);
    expect(granted(50)).to.equal(10);
    wait(8000);
    expect(granted(50)).to.equal(0);
    wait(2000);
    expect(granted(50)).to.equal(10);
  });

  it('is a fifth of the requests of the last ten seconds where that is more', () => {
    const { wait, granted, requests } = budgetAt();
    requests(100);
    wait(5000);
    requests(100);
    expect(granted(100)).to.equal(40);
    wait(5000); // the first hundred is forgotten, the retries are not
    expect(granted(100)).to.equal(0);
    wait(5000);
    expect(granted(100)).to.equal(10);
  });

  it('forgets everything over a long silence', () => {
    const { wait, granted, requests } = budgetAt();
    requests(1000);
    granted(200);
    wait(3_600_000);
    requests(1);
    expect(granted(50)).to.equal(10);
  });

  it('that is used up sends a request to the next target, or to its end', () => {
    const { budget, granted } = budgetAt();
    granted(10);
    expect(decide(transport, { budget })).to.deep.equal({ step: 'advance' });
    expect(decide(transport, { budget, strategy: strategyOf({ advances: false }) })).to.deep.equal({ step: 'stop' });
  });

  it('is charged for retries alone', () => {
    const { budget, granted } = budgetAt();
    for (let turn = 0; turn < 20; turn += 1) {
      decide(status(400), { budget });
      decide(transport, { budget, tries: 3 });
      decide(status(429, 30_001), { budget });
    }
    expect(granted(50)).to.equal(10);
  });
});
