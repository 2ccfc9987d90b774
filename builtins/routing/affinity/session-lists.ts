import type { SessionOrder } from '../../../host/contract/index.ts';
import type { GenerationDraft } from '../../../host/generation/generation.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Target } from '../../../host/pipeline/target.ts';
import { routeWords, type Words } from './rendezvous.ts';

/** One target, or route of a group, as sessions know it. */
export interface SessionRoute {
  /** Stands for it in what is remembered of sessions: its target and, in a group, its upstream model. */
  readonly id: string;
  readonly words: Words;
  readonly target: Target;
}

/** What is ranked by one strategy that keeps sessions together. */
export interface SessionList {
  readonly order: SessionOrder | undefined;
  /** By the name that strategies know them by. */
  readonly routes: ReadonlyMap<string, SessionRoute>;
}

/** The strategies of a configuration that keep sessions together. */
export interface SessionLists {
  /** The one that ranks a request now; `undefined` where that keeps no sessions together. */
  of(exchange: LiveExchange): SessionList | undefined;
}

/** `undefined` where no strategy has `affinity: session`. */
export function sessionLists({ config, strategy, groups, targets }: GenerationDraft): SessionLists | undefined {
  const top = isOn(config.strategy) ? listOf(strategy.module.sessions, byKey(targets)) : undefined;
  const inGroups = (groups?.list ?? []).map((group) =>
    isOn(config.models?.[group.index]?.strategy)
      ? listOf(group.strategy.module.sessions, group.routes, group.name)
      : undefined,
  );
  if (!top && inGroups.every((list) => !list)) return undefined;
  return {
    of: ({ routing: { group } }) => (group ? inGroups[group.index] : top),
  };
}

const isOn = (strategy: { readonly affinity?: string | undefined } | undefined): boolean =>
  strategy?.affinity === 'session';

const byKey = (targets: readonly Target[]): ReadonlyMap<string, Target> =>
  new Map(targets.map((target) => [target.virtualKey, target]));

/** Upstream models of a group with a star count as they are written: the session holds the name that was asked for. */
function listOf(order: SessionOrder | undefined, targets: ReadonlyMap<string, Target>, group?: string): SessionList {
  const routes = new Map<string, SessionRoute>();
  for (const [key, target] of targets) {
    const model = group === undefined ? '' : target.upstreamModel(group);
    routes.set(key, {
      id: `${target.virtualKey}\0${model}`,
      words: routeWords(target.virtualKey, model),
      target,
    });
  }
  return { order, routes };
}
