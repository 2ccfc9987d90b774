import { type Exchange, type PluginPrices, SURFACES, type TokenPrice } from '../contract/index.ts';
import { catalogEntryOf } from '../pipeline/billing/catalog-entry.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { ModelGroups } from '../pipeline/model-group.ts';
import { asNamed, namesFor, servingTargets } from '../pipeline/serving.ts';
import type { Target } from '../pipeline/target.ts';
import type { ModelIndex } from './model-index.ts';

type CallPrices = Pick<PluginPrices, 'highest' | 'longestAnswer'>;

/** What names of targets and models stand for. */
interface KnownNames {
  readonly targets: ReadonlyMap<string, Target>;
  readonly models: Pick<ModelIndex, 'owners' | 'routeTargets'>;
  /** `undefined` without groups, and before they are bound. */
  readonly groups: ModelGroups | undefined;
}

/** What a call may cost before a target is chosen: the dearest price, and the longest answer, of those that may serve it, fallbacks of a group of models included. */
export function callPrices(
  { services }: { readonly services: Pick<PipelineServices, 'catalog'> },
  known: KnownNames,
): CallPrices {
  const serving = (exchange: Exchange): readonly Target[] => {
    const { model, surface } = exchange;
    if (!SURFACES[surface].isForwarded) return servingTargets(exchange, known);
    return namesFor(model, known).flatMap(({ name, group }) => {
      const targets = group
        ? [...group.routes.values()]
        : known.models
            .owners(name)
            .flatMap(({ virtualKey, serves }) => (serves ? (known.targets.get(virtualKey) ?? []) : []));
      return name === model ? targets : targets.map((target) => asNamed(target, name));
    });
  };
  return {
    highest: (exchange) => {
      const known = serving(exchange).flatMap(
        (target) => services.catalog.tokenPrice(target.catalogProvider, target.upstreamModel(exchange.model)) ?? [],
      );
      return known.length < 2 ? known[0] : known.reduce(dearer);
    },
    longestAnswer: (exchange) => {
      let longest: number | undefined;
      for (const target of serving(exchange)) {
        const most =
          target.provider &&
          catalogEntryOf(target, target.upstreamModel(exchange.model), services.catalog)?.max_output_tokens;
        if (!most) return undefined;
        longest = Math.max(longest ?? 0, most);
      }
      return longest;
    },
  };
}

function dearer(one: TokenPrice, other: TokenPrice): TokenPrice {
  const most = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
  return {
    input: most(one.input, other.input),
    output: most(one.output, other.output),
    cacheRead: most(one.cacheRead, other.cacheRead),
    cacheWrite: most(one.cacheWrite, other.cacheWrite),
    embedding: most(one.embedding, other.embedding),
    image: most(one.image, other.image),
    audioMinute: most(one.audioMinute, other.audioMinute),
    character: most(one.character, other.character),
  };
}
