import type { RouteQuery, RouteTarget, Surface } from '../../host/contract/index.ts';
import type { Clock } from '../../host/common/clock.ts';
import { turnTaker } from '../../host/common/next-turn.ts';
import type { KeyLimits } from '../../host/common/host-principal.ts';
import type { Generation } from '../../host/generation/generation.ts';
import { implementsSurface } from '../../host/generation/model-index.ts';
import { mayServe } from '../../host/pipeline/key-access.ts';
import type { Target } from '../../host/pipeline/target.ts';
import { CAPABILITIES, type Catalog, type CatalogEntry } from '../../host/common/catalog.ts';

/** One model as `GET /v1/models` shows it. */
export interface ModelEntry {
  readonly id: string;
  readonly object: 'model';
  readonly owned_by: string;
  /** Unix seconds; 0 when it is not known. */
  readonly created: number;
  readonly mode?: string;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities?: readonly string[];
  readonly status?: string;
  readonly deprecated?: true;
}

export type CreatedOf = (provider: string, model: string) => number;

export interface ListingDeps {
  readonly catalog: Catalog;
  readonly createdOf: CreatedOf;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Everything clients may ask for, or of it what one key may: each id once, owned by the first target in target order that serves it under the
 * strategy in force; what the strategy would refuse is left out. Others are served in between. See docs/surfaces.md#which-models-there-are.
 */
export async function listModels(
  generation: Generation,
  { catalog, createdOf, clock }: ListingDeps,
  limits: KeyLimits = {},
): Promise<ReadonlyMap<string, ModelEntry>> {
  const entries = new Map<string, ModelEntry>();
  const mayAsk = asking(limits, generation.config.aliases);
  const giveWay = turnTaker(clock);
  for (const { virtualKey, provider } of generation.targetList) {
    if (!provider || !mayServe(limits, virtualKey)) continue;
    for (const id of generation.models.advertised(virtualKey)) {
      if (entries.has(id) || !mayAsk(id)) continue;
      const owner = ownerOf(generation, catalog, id, limits);
      if (!owner) continue;
      const facts = catalog.entry(owner.catalogProvider, id);
      entries.set(id, modelEntry(id, owner.virtualKey, createdOf(owner.virtualKey, id), facts));
      const others = giveWay();
      if (others) await others;
    }
  }
  return entries;
}

/** What `mayAsk` says of many models. */
function asking({ models }: KeyLimits, aliases: Readonly<Record<string, string>>): (id: string) => boolean {
  if (!models) return () => true;
  const allowed = new Set(models);
  for (const name of models) {
    const model = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    if (model !== undefined) allowed.add(model);
  }
  return (id) => allowed.has(id);
}

/** The target that a bare request for the model would reach first in target order; `undefined` when none would. */
function ownerOf(
  { models, strategy, targets }: Generation,
  catalog: Catalog,
  model: string,
  limits: KeyLimits,
): Target | undefined {
  const owners = models.owners(model);
  const marked = limits.providers
    ? owners.map((target) => (mayServe(limits, target.virtualKey) ? target : { ...target, serves: false }))
    : owners;
  const candidates = marked.filter(({ serves }) => serves);
  const [first] = candidates;
  if (!first) return undefined;
  const query = bareQuery(
    model,
    catalog.entry(targets.get(first.virtualKey)?.catalogProvider ?? first.virtualKey, model)?.mode,
    (target) => targets.get(target)?.upstreamModel(model) ?? model,
  );
  const ranked = strategy.ranker.list(marked, query);
  const reachable = new Set(
    (strategy.advances ? ranked : named(ranked, query.surface, targets)).map(({ virtualKey }) => virtualKey),
  );
  const owner = candidates.find(({ virtualKey }) => reachable.has(virtualKey));
  return owner && targets.get(owner.virtualKey);
}

/** The target that takes the request under a strategy that names one: the first that can serve the surface, whatever the model. */
function named(
  ranked: readonly RouteTarget[],
  surface: Surface,
  targets: Generation['targets'],
): readonly RouteTarget[] {
  const able = ranked.find(({ virtualKey }) => {
    const target = targets.get(virtualKey);
    return target !== undefined && implementsSurface(target, surface, false);
  });
  return able ? [able] : ranked.slice(0, 1);
}

const SURFACE_OF_MODE: ReadonlyMap<string | undefined, Surface> = new Map([
  ['embedding', 'embeddings'],
  ['image', 'images'],
  ['audio_in', 'audio.transcriptions'],
  ['audio_out', 'audio.speech'],
]);

function bareQuery(model: string, mode: string | undefined, upstreamModel: RouteQuery['upstreamModel']): RouteQuery {
  return {
    isListing: true,
    surface: SURFACE_OF_MODE.get(mode) ?? 'chat',
    model,
    upstreamModel,
    metadata: {},
    userTexts: () => [],
    promptCharacters: () => 0,
    maxTokens: undefined,
    images: 1,
    user: undefined,
    principal: undefined,
    streaming: false,
  };
}

/** What is empty, zero or false is left out. */
function modelEntry(id: string, owner: string, created: number, facts: CatalogEntry | undefined): ModelEntry {
  const known = { id, object: 'model', owned_by: owner, created } as const;
  if (!facts) return known;
  const {
    mode,
    context_window,
    max_output_tokens,
    lifecycle: { status },
  } = facts;
  const capabilities = CAPABILITIES.filter((name) => facts.capabilities[name]);
  return {
    ...known,
    ...(mode && { mode }),
    ...(context_window > 0 && { context_window }),
    ...(max_output_tokens > 0 && { max_output_tokens }),
    ...(capabilities.length > 0 && { capabilities }),
    ...(status && { status }),
    ...((status === 'deprecated' || status === 'legacy') && { deprecated: true as const }),
  };
}
