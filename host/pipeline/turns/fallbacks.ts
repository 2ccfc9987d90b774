import type { RouteTarget } from '../../contract/index.ts';
import { advances } from '../attempts/retry.ts';
import type { FailedTry } from '../hooks.ts';
import type { LiveExchange } from '../live-exchange.ts';
import type { ResolvedName } from '../model-group.ts';
import type { RunningGeneration } from '../running-generation.ts';
import type { Target } from '../target.ts';
import { fallbackRoutes } from './ranked-routes.ts';

/** What one turn tries behind the routes of a group of models: names of fallbacks, depth first, until one answers. See docs/reference/groups.md#fallbacks. */
export class Fallbacks {
  readonly #exchange: LiveExchange;
  readonly #generation: RunningGeneration;
  readonly #streaming: boolean;
  readonly #tried: { readonly virtualKey: string; readonly model: string }[] = [];
  #names: readonly ResolvedName[] | undefined;
  #at = 0;
  /** The failure that was last found to leave it to others. */
  #passed: FailedTry | undefined;

  constructor(exchange: LiveExchange, generation: RunningGeneration, streaming: boolean) {
    this.#exchange = exchange;
    this.#generation = generation;
    this.#streaming = streaming;
  }

  /** False for a target that was asked for this upstream model before; it is passed over. */
  takes(target: Target): boolean {
    const { routing, model: asked } = this.#exchange;
    const model = target.upstreamModel(routing.fallback ?? asked);
    if (this.#tried.some((tried) => tried.virtualKey === target.virtualKey && tried.model === model)) return false;
    this.#tried.push({ virtualKey: target.virtualKey, model });
    return true;
  }

  /** The ranked targets of the next fallback; `undefined` behind the last one, and where the last failure is for the client. */
  next(last: FailedTry | undefined): readonly RouteTarget[] | undefined {
    const { routing, cancellation, model } = this.#exchange;
    const { strategy, groups } = this.#generation;
    if (last && last !== this.#passed) {
      if (cancellation.cause || !advances(last.error, routing.group?.strategy ?? strategy, last.isOfCredentials))
        return undefined;
      this.#passed = last;
    }
    this.#names ??= routing.group && groups?.behind(model, routing.group);
    const name = this.#names?.[this.#at];
    this.#at += 1;
    return name && fallbackRoutes(name, this.#exchange, this.#generation, this.#streaming);
  }
}
