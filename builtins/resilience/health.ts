import type { RouteTarget } from '../../host/contract/index.ts';
import { defineBuiltin, ORDER } from '../../host/builtin.ts';
import type { GenerationDraft } from '../../host/generation/generation.ts';
import type { HintValue, TeamHints } from '../../host/state/team-hints.ts';
import type { Attempt } from '../../host/pipeline/attempts/attempt.ts';
import { boundAccount, holdsAccount } from '../../host/pipeline/credentials/bound-account.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { LiveExchange } from '../../host/pipeline/live-exchange.ts';
import { routedTarget, targetName } from '../../host/pipeline/turns/ranked-routes.ts';
import { classOf } from '../../host/upstream/fault-classes.ts';

/** How long a target that answered 429 is passed over: by its own hint, within these bounds; one whose account has no credit left as long as may be. See docs/reference/data-plane.md#failures-that-go-on-to-the-next-target. */
const PARKED_MS = 5_000;
const MAX_PARKED_MS = 60_000;

/** When one target's rest ends, in monotonic milliseconds, and why it rests. */
interface Rest {
  until: number;
  why: string;
  readonly tell: ((value: RestHint) => void) | undefined;
  readonly stop: (() => void) | undefined;
}

interface RestHint extends HintValue {
  readonly why: string;
}

/** Where this gateway has several processes, a rest is one for all of them: the longer one counts. */
function sharedRest(id: string, monotonic: () => number, hints: TeamHints | undefined): Rest {
  const known = { until: 0, why: '' };
  const rest: Rest = Object.assign(known, {
    tell: hints && ((value: RestHint) => hints.send('rest', id, value)),
    stop: hints?.on('rest', id, (value) => {
      const { forMs, why } = value as RestHint;
      const until = monotonic() + forMs;
      if (until > known.until) Object.assign(known, { until, why });
    }),
  });
  return rest;
}

function park(rest: Rest, hint: RestHint, monotonic: () => number): void {
  Object.assign(rest, { until: monotonic() + hint.forMs, why: hint.why });
  rest.tell?.(hint);
}

/** Why a target is passed over, if it is: `undefined` is healthy. */
type Judge = (target: RouteTarget, exchange: LiveExchange) => string | undefined;

/**
 * Passes over targets whose circuit is open, those that asked for a rest and those without a usable credential, as long as others
 * can serve: a filter, never a refusal. Only for strategies that try one target after another.
 */
export default defineBuiltin({
  name: 'health',
  apply: ({ hooks }) =>
    hooks.assemble.tapPromise('health', async (draft, host) => {
      const { hooks: pipeline, targets, strategy, groups } = draft;
      const isOfUse = strategy.advances || groups?.list.some((group) => group.strategy.advances) === true;
      if (!isOfUse || (targets.length < 2 && !groups)) return;
      const { whyParked, settle } = parking(draft, host?.hints);
      const whyKept = credentialJudge(draft);
      const whyUnfit: Judge = (target, exchange) => {
        const name = targetName(target.virtualKey, exchange.routing);
        if (pipeline.circuit.call(name) === 'open') return whyParked(name) ?? 'its circuit is open';
        return whyParked(name) ?? whyKept?.(target, exchange);
      };

      pipeline.route.tap({ name: 'health', stage: ORDER.health }, (ranked, exchange) => {
        const { heard, group } = exchange.routing;
        if (exchange.routing.isBound) return boundRoutes(ranked, exchange, draft);
        if (!(group?.strategy ?? strategy).advances) return ranked;
        if (areFit(ranked, exchange, whyUnfit)) return ranked;
        const healthy = ranked.filter((target) => whyUnfit(target, exchange) === undefined);
        const then = healthy.length > 0 ? '' : ', as do all others: they are tried all the same';
        for (const target of ranked) {
          const why = whyUnfit(target, exchange);
          if (why !== undefined) heard?.target?.(target.virtualKey, `${why}${then}`);
        }
        return healthy.length > 0 ? healthy : ranked;
      });
      pipeline.settled.tap('health', settle);
    }),
});

/**
 * The targets of a request whose earlier turns one account of a vendor can read: the first in the order, and those that hold the same
 * account; those that can be called go first. Health passes over none of them to another account.
 */
function boundRoutes(
  ranked: readonly RouteTarget[],
  exchange: LiveExchange,
  { hooks, targets: all }: GenerationDraft,
): readonly RouteTarget[] {
  const targets = new Map(all.map((target) => [target.virtualKey, target]));
  const { routing, model } = exchange;
  const targetOf = ({ virtualKey }: RouteTarget): Target | undefined => routedTarget(virtualKey, exchange, { targets });
  const home = ranked.find(({ serves }) => serves);
  const first = home && targetOf(home);
  const account = first && boundAccount(exchange, first, hooks);
  if (!first || account === undefined) return ranked;
  routing.bound = { account, target: first.virtualKey };
  const kept = ranked.filter((each) => {
    const target = targetOf(each);
    return target !== undefined && holdsAccount(target, first, account);
  });
  const isUnusable = (each: RouteTarget): number => {
    const target = targetOf(each);
    const known =
      target?.instance && hooks.credentials.call()?.usability(target.instance, target.upstreamModel(model), account);
    return Number(known === 'unusable' || known === 'not_allowed');
  };
  return kept.toSorted((a, b) => isUnusable(a) - isUnusable(b));
}

function areFit(ranked: readonly RouteTarget[], exchange: LiveExchange, whyUnfit: Judge): boolean {
  for (const target of ranked) if (whyUnfit(target, exchange) !== undefined) return false;
  return true;
}

/** Rests of targets as a whole. Where an instance has several credentials, each rests for itself. */
function parking(
  { targets, carryover, services: { clock } }: GenerationDraft,
  hints: TeamHints | undefined,
): {
  readonly whyParked: (virtualKey: string) => string | undefined;
  readonly settle: (attempt: Attempt) => void;
} {
  const { monotonic } = clock;
  const rests = new Map(
    targets
      .filter(({ instance }) => !instance || instance.credentials.length === 1)
      .map(({ virtualKey }) => [
        virtualKey,
        carryover.lease(
          `rest ${virtualKey}`,
          () => sharedRest(virtualKey, monotonic, hints),
          (rest) => rest.stop?.(),
        ),
      ]),
  );
  return {
    whyParked: (virtualKey) => {
      const rest = rests.get(virtualKey);
      return rest !== undefined && rest.until > 0 && rest.until > monotonic() ? rest.why : undefined;
    },
    settle: ({ target: { virtualKey, instance }, outcome, error }) => {
      const rest = rests.get(virtualKey);
      if (!rest) return;
      const { fault, retryAfterMs = PARKED_MS } = error ?? {};
      if (fault?.reason === 'billing' && fault.ofRequest !== true) {
        if (!instance) park(rest, { forMs: MAX_PARKED_MS, why: 'its account has no credit left' }, monotonic);
      } else if (fault?.status === 429 && classOf(fault).isOver !== true)
        // what is wrong with one request says nothing of the next
        park(rest, { forMs: Math.min(retryAfterMs, MAX_PARKED_MS), why: 'it rests after a 429' }, monotonic);
      else if (outcome === 'success' && !error) rest.until = 0;
    },
  };
}

/** `undefined` where no instance is declared. */
function credentialJudge({ targets: all, hooks: { credentials } }: GenerationDraft): Judge | undefined {
  if (!all.some(({ instance }) => instance)) return undefined;
  const targets = new Map(all.map((target) => [target.virtualKey, target]));
  return ({ virtualKey }, exchange) => {
    const { model, routing } = exchange;
    const target = routedTarget(virtualKey, exchange, { targets });
    if (!target?.instance || !target.provider) return undefined;
    const usability = credentials.call()?.usability(target.instance, target.upstreamModel(routing.fallback ?? model));
    if (usability === 'unusable') return 'it has no usable credential';
    const isRest = usability === 'resting' && target.instance.credentials.length > 1;
    return isRest ? 'every credential of it rests' : undefined;
  };
}
