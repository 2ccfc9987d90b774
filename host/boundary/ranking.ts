import {
  GatewayError,
  type Log,
  type Rank,
  type RankNotes,
  type RouteQuery,
  type RouteTarget,
} from '../contract/index.ts';
import { faultAttributes, ModuleFault, type ModuleRef } from './module-fault.ts';
import type { RequestTrace } from './module-log.ts';
import { refusePromise } from './thenable.ts';

export interface RankerOptions {
  readonly module: ModuleRef;
  readonly log: Log;
  readonly trace: RequestTrace;
}

/** What stands between the host and a strategy's ranking function. */
export class Ranker {
  readonly #rank: Rank;
  readonly #options: RankerOptions;
  /** What it invents or repeats is logged once per configuration: it would do so for each request. */
  #isToldOfStrangers = false;

  constructor(rank: Rank, options: RankerOptions) {
    this.#rank = rank;
    this.#options = options;
  }

  /** Asks for one request. Throws when the strategy fails. */
  rank(
    targets: readonly RouteTarget[],
    query: RouteQuery,
    notes: RankNotes | undefined,
    exchangeId: string,
  ): readonly RouteTarget[] {
    const { trace, log, module } = this.#options;
    try {
      const ranked: unknown =
        module.file === undefined
          ? this.#rank(targets, query, notes)
          : trace.run({ module, exchangeId }, this.#rank, targets, query, notes);
      return this.#chosen(ranked, targets, exchangeId);
    } catch (thrown) {
      const fault = new ModuleFault(module, 'rank', thrown);
      log.error('strategy failed', faultAttributes(fault, { trace_id: exchangeId }));
      throw new GatewayError('routing_error', 'the gateway could not complete the request', { cause: fault });
    }
  }

  /** Asks while models are listed: where the strategy fails, every target counts. */
  list(targets: readonly RouteTarget[], query: RouteQuery): readonly RouteTarget[] {
    try {
      return this.#chosen(this.#rank(targets, query), targets, undefined);
    } catch (thrown) {
      this.#options.log.error(
        'strategy failed while models were listed',
        faultAttributes(new ModuleFault(this.#options.module, 'rank', thrown)),
      );
      return targets;
    }
  }

  /** What was returned, without what the strategy invented or repeated. A copy of a target stands for the target. */
  #chosen(ranked: unknown, targets: readonly RouteTarget[], trace_id: string | undefined): readonly RouteTarget[] {
    if (ranked === targets) return targets;
    if (!Array.isArray(ranked)) {
      refusePromise(ranked);
      throw new Error('it returned no list of targets');
    }
    if (ranked.length > MOST_RANKED) throw new Error(`it returned a list of ${ranked.length}`);
    if (isChoice(ranked as readonly RouteTarget[], targets)) return ranked as readonly RouteTarget[];
    const left = new Map(targets.map((target) => [target.virtualKey, target]));
    const kept = ranked.flatMap((one: Partial<RouteTarget> | null | undefined) => {
      const target = left.get(one?.virtualKey ?? '');
      return target && left.delete(target.virtualKey) ? [target] : [];
    });
    if (kept.length < ranked.length) this.#tellOfStrangers(ranked.length - kept.length, trace_id);
    return kept;
  }

  #tellOfStrangers(count: number, trace_id: string | undefined): void {
    if (this.#isToldOfStrangers) return;
    this.#isToldOfStrangers = true;
    const {
      log,
      module: { kind, name },
    } = this.#options;
    log.warn('strategy ranked what is not a target, or one twice: that is left out', {
      [kind]: name,
      function: 'rank',
      count,
      ...(trace_id !== undefined && { trace_id }),
    });
  }
}

/** A list that says it is longer, mostly of gaps, is not gone through. */
const MOST_RANKED = 100_000;

/** Lists longer than this are compared through a map. */
const FEW = 64;

/** Whether every one is a target, and stands there once. For few targets looking is quicker than a map. */
function isChoice(ranked: readonly RouteTarget[], targets: readonly RouteTarget[]): boolean {
  if (ranked.length > targets.length || targets.length > FEW) return false;
  for (let at = 0; at < ranked.length; at += 1) {
    const target = ranked[at] as RouteTarget;
    if (!targets.includes(target) || ranked.indexOf(target) !== at) return false;
  }
  return true;
}
