import { type Exchange, type PluginPrices, SURFACES, type TokenPrice } from '../contract/index.ts';
import { catalogEntryOf } from '../pipeline/billing/catalog-entry.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { ModelIndex } from './model-index.ts';
import type { Target } from '../pipeline/target.ts';

type CallPrices = Pick<PluginPrices, 'highest' | 'longestAnswer'>;

/** What a call may cost before a target is chosen: the dearest price, and the longest answer, of those that may serve it. */
export function callPrices(
  { services }: { readonly services: Pick<PipelineServices, 'catalog'> },
  targets: ReadonlyMap<string, Target>,
  models: Pick<ModelIndex, 'owners' | 'routeTargets'>,
): CallPrices {
  const serving = ({ model, surface, streaming }: Exchange): readonly Target[] => {
    const marked = SURFACES[surface].isForwarded
      ? models.owners(model)
      : models.routeTargets(model, surface, streaming);
    return marked.flatMap(({ virtualKey, serves }) => (serves ? (targets.get(virtualKey) ?? []) : []));
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
