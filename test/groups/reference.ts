/**
 * A second, slow reading of docs/reference/groups.md and of the rules it names: which upstream models of which targets a request is
 * tried at, in which order. Computed of nothing but the document; shares no code with the gateway.
 */
export interface ReferenceTarget {
  readonly virtual_key: string;
  readonly weight: number;
  readonly models: readonly string[];
  readonly model_map: Readonly<Record<string, string>>;
}

export interface ReferenceStrategy {
  readonly mode: string;
  readonly failover_on?: readonly string[];
  readonly failover_on_status_codes?: readonly number[];
  readonly conditions?: readonly { readonly value: string; readonly target_key: string }[];
}

export interface ReferenceGroup {
  readonly name: string;
  readonly routes: readonly { readonly target: string; readonly model?: string; readonly weight?: number }[];
  readonly strategy?: ReferenceStrategy;
  readonly fallbacks?: readonly string[];
}

export interface ReferenceDocument {
  readonly targets: readonly ReferenceTarget[];
  readonly strategy: ReferenceStrategy;
  readonly aliases: Readonly<Record<string, string>>;
  readonly models: readonly ReferenceGroup[];
}

/** What a provider can do. */
export interface Ability {
  readonly surfaces: readonly string[];
  readonly isRegistered: boolean;
  readonly takesAnyModel: boolean;
}

/** What an upstream does: a status, and why where it says so. */
export interface Failure {
  readonly status: number;
  readonly reason?: string;
}

export interface Situation {
  readonly document: ReferenceDocument;
  readonly abilities: Readonly<Record<string, Ability>>;
  readonly surface: string;
  readonly asked: string;
  /** Targets that the key may use; any where it has no list. */
  readonly allowed: readonly string[] | undefined;
  /** By `target/model`; what is not there answers. */
  readonly failures: ReadonlyMap<string, Failure>;
}

export interface Foretold {
  readonly calls: readonly string[];
  readonly end: 'served' | 'not found' | 'failed';
}

/** One thing that may be tried. */
interface Candidate {
  readonly key: string;
  readonly target: string;
  readonly model: string;
  readonly weight: number;
  /** Registered, with the surface. */
  readonly isAble: boolean;
  readonly serves: boolean;
}

interface Round {
  readonly candidates: readonly Candidate[];
  readonly strategy: ReferenceStrategy;
  readonly name: string;
}

const NAMING = new Set(['single', 'conditional']);

export function foretell(situation: Situation): Foretold {
  const rounds = roundsOf(situation);
  if (rounds.every(({ candidates }) => candidates.every(({ serves }) => !serves)))
    return { calls: [], end: 'not found' };
  const calls: string[] = [];
  const resting = new Set<string>();
  for (const { candidates, strategy, name } of rounds) {
    for (const { target, model } of chosen(candidates, strategy, name, resting)) {
      const call = `${target}/${model}`;
      if (calls.includes(call)) continue;
      calls.push(call);
      const failure = situation.failures.get(call);
      if (!failure) return { calls, end: 'served' };
      if (failure.status === 429) resting.add(target);
      if (!goesOn(failure, strategy)) return { calls, end: 'failed' };
      if (NAMING.has(strategy.mode)) break;
    }
  }
  return { calls, end: calls.length === 0 ? 'not found' : 'failed' };
}

/** The name asked for and every name behind it: depth first, each once. */
function roundsOf(situation: Situation): readonly Round[] {
  const { document } = situation;
  const seen = new Set<string>();
  const visit = (written: string): readonly Round[] => {
    const name = document.aliases[written] ?? written;
    if (seen.has(name)) return [];
    seen.add(name);
    const group = groupOf(document, name);
    if (!group) return [{ candidates: targetsFor(situation, name), strategy: document.strategy, name }];
    const round = {
      candidates: routesOf(situation, group, name),
      strategy: group.strategy ?? { mode: 'fallback' },
      name,
    };
    return [round, ...(group.fallbacks ?? []).flatMap(visit)];
  };
  const name = document.aliases[situation.asked] ?? situation.asked;
  return visit(name);
}

function groupOf({ models }: ReferenceDocument, name: string): ReferenceGroup | undefined {
  const fitting = models.filter(({ name: written }) =>
    written.endsWith('*')
      ? name.length >= written.length && name.startsWith(written.slice(0, written.length - 1))
      : written === name,
  );
  return (
    fitting.find(({ name: written }) => written === name && !written.endsWith('*')) ??
    fitting.toSorted((a, b) => b.name.length - a.name.length)[0]
  );
}

function routesOf(
  { document, abilities, surface, allowed }: Situation,
  group: ReferenceGroup,
  name: string,
): Candidate[] {
  const star = name.slice(group.name.length - 1);
  return group.routes.map(({ target, model, weight = 0 }) => {
    const declared = document.targets.find(({ virtual_key }) => virtual_key === target)!;
    const upstream =
      model === undefined
        ? (declared.model_map[name] ?? name)
        : group.name.endsWith('*') && model.endsWith('*')
          ? model.slice(0, -1) + star
          : model;
    const isOnly = group.routes.filter((route) => route.target === target).length === 1;
    const isAble = abilities[target]!.isRegistered && abilities[target]!.surfaces.includes(surface);
    return {
      key: isOnly ? target : `${target}@${model ?? group.name}`,
      target,
      model: upstream,
      weight,
      isAble,
      serves: isAble && (allowed?.includes(target) ?? true),
    };
  });
}

function targetsFor({ document, abilities, surface, allowed }: Situation, name: string): Candidate[] {
  const registered = document.targets.filter(({ virtual_key }) => abilities[virtual_key]!.isRegistered);
  const owners = registered.filter(({ models, model_map }) => models.includes(name) || name in model_map);
  const fitting =
    owners.length > 0 ? owners : registered.filter((target) => abilities[target.virtual_key]!.takesAnyModel);
  return document.targets.map((target) => {
    const { virtual_key: key, weight, model_map } = target;
    const isAble = registered.includes(target) && abilities[key]!.surfaces.includes(surface);
    return {
      key,
      target: key,
      model: model_map[name] ?? name,
      weight,
      isAble,
      serves: isAble && fitting.includes(target) && (allowed?.includes(key) ?? true),
    };
  });
}

/** What the strategy tries, in its order; draws fall on the first. */
function chosen(
  candidates: readonly Candidate[],
  { mode, conditions = [] }: ReferenceStrategy,
  name: string,
  resting: ReadonlySet<string>,
): readonly Candidate[] {
  if (mode === 'single') return candidates.slice(0, 1).filter(({ serves }) => serves);
  if (mode === 'conditional') {
    const wanted = conditions.find(({ value }) => value === name)?.target_key;
    const first = candidates.filter(({ key }) => key === wanted);
    const ordered = [...first, ...candidates.filter((each) => !first.includes(each))];
    const named = ordered.find(({ isAble }) => isAble) ?? ordered[0];
    return named?.serves === true ? [named] : [];
  }
  const open = candidates.filter(({ serves, weight }) => serves && (mode !== 'loadbalance' || weight > 0));
  const awake = open.filter(({ target }) => !resting.has(target));
  return awake.length > 0 ? awake : open;
}

function goesOn(
  { status, reason }: Failure,
  { failover_on: reasons = [], failover_on_status_codes: statuses = [] }: ReferenceStrategy,
): boolean {
  if (reason !== undefined && reasons.includes(reason)) return true;
  return statuses.includes(status) || status === 408 || status === 429 || status >= 500;
}
