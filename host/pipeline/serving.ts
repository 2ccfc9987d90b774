import type { Surface } from '../contract/index.ts';
import type { ModelGroup, ModelGroups, ResolvedName } from './model-group.ts';
import type { RunningGeneration } from './running-generation.ts';
import type { Target } from './target.ts';

type Known = Pick<RunningGeneration, 'models' | 'groups' | 'targets'>;

/** What is asked for, of a request or of its exchange as plugins see it. */
export interface Asked {
  readonly model: string;
  readonly surface: Surface;
  readonly streaming: boolean;
}

/** Whether something that may serve a request passes a test: what its model names, or in a group of models what one of the fallbacks names. */
export function isServed<A extends Asked>(
  asked: A,
  known: Known,
  isFit: (target: Target, asked: A) => boolean,
  pinned?: string,
): boolean {
  const { model, surface, streaming } = asked;
  const { groups, models, targets } = known;
  const group = groups && groupServing(model, groups, pinned);
  for (const { virtualKey, serves } of (group ?? models).routeTargets(model, surface, streaming, pinned)) {
    const target = serves ? (group?.routes ?? targets).get(virtualKey) : undefined;
    if (target && isFit(target, asked)) return true;
  }
  if (!groups || !group) return false;
  return groups.behind(model, group).some((behind) =>
    (behind.group ?? models).routeTargets(behind.name, surface, streaming, pinned).some(({ virtualKey, serves }) => {
      const target = serves ? (behind.group?.routes ?? targets).get(virtualKey) : undefined;
      return target !== undefined && isFit(asNamed(target, behind.name), asked);
    }),
  );
}

/** The first that may serve a name of a group, in the order of the file: a route, else what a fallback names. */
export function firstServed(
  asked: Asked,
  known: Known,
  isAllowed: (target: Target) => boolean,
  pinned?: string,
): Target | undefined {
  for (const { name, group } of namesFor(asked.model, known)) {
    const marked = (group ?? known.models).routeTargets(name, asked.surface, asked.streaming, pinned);
    for (const { virtualKey, serves } of marked) {
      const target = serves ? (group?.routes ?? known.targets).get(virtualKey) : undefined;
      if (target && isAllowed(target)) return asNamed(target, name);
    }
  }
  return undefined;
}

/** The group whose routes a request is for. One that names a target without a route there goes to that target as if there were no group. */
export function groupServing(model: string, groups: ModelGroups, pinned: string | undefined): ModelGroup | undefined {
  const group = groups.of(model);
  const isThere =
    pinned === undefined || group?.routes.values().some(({ virtualKey }) => virtualKey === pinned) === true;
  return isThere ? group : undefined;
}

/** Everything that may serve a request: what its model names, and in a group of models what its fallbacks name. */
export function servingTargets(asked: Asked, known: Known): readonly Target[] {
  const { model, surface, streaming } = asked;
  return namesFor(model, known).flatMap(({ name, group }) =>
    (group ?? known.models).routeTargets(name, surface, streaming).flatMap(({ virtualKey, serves }) => {
      const target = serves ? (group?.routes ?? known.targets).get(virtualKey) : undefined;
      return target ? (name === model ? target : asNamed(target, name)) : [];
    }),
  );
}

/** The name itself, and in a group of models its fallbacks, depth first. */
export function namesFor(model: string, { groups }: Pick<Known, 'groups'>): readonly ResolvedName[] {
  const group = groups?.of(model);
  const asked = { name: model, group };
  return groups && group ? [asked, ...groups.behind(model, group)] : [asked];
}

/** A target that is asked for the model of a name, whatever the client's is. */
export function asNamed(target: Target, name: string): Target {
  const model = target.upstreamModel(name);
  return { ...target, upstreamModel: () => model };
}
