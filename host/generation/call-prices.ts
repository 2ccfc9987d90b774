import { dearerPrice, type Exchange, type PluginPrices, type PriceQuestion, SURFACES } from '../contract/index.ts';
import { searchSizeOf, wordOf } from '../common/prices/asked-words.ts';
import { catalogEntryOf } from '../pipeline/billing/catalog-entry.ts';
import type { PipelineServices } from '../pipeline/pipeline-services.ts';
import type { ModelGroups } from '../pipeline/model-group.ts';
import { asNamed, namesFor, servingTargets } from '../pipeline/serving.ts';
import type { Target } from '../pipeline/target.ts';
import type { ModelIndex } from './model-index.ts';

/** What a call may cost, and how long it may be, before a target is chosen. */
export interface CallPrices extends Pick<PluginPrices, 'highest' | 'longestAnswer'> {
  /** Most tokens that any target which serves the model can read and answer together; `undefined` where the catalog does not know it of all of them. */
  readonly longestContext: (exchange: Exchange) => number | undefined;
}

/** What names of targets and models stand for. */
interface KnownNames {
  readonly targets: ReadonlyMap<string, Target>;
  readonly models: Pick<ModelIndex, 'owners' | 'routeTargets'>;
  /** `undefined` without groups, and before they are bound. */
  readonly groups: ModelGroups | undefined;
}

/** What a call may cost before a target is chosen: the dearest price, and the longest answer, of those that may serve it, fallbacks of a group of models included. */
export function callPrices(
  { services }: { readonly services: Pick<PipelineServices, 'catalog' | 'clock'> },
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
  const longest = (exchange: Exchange, of: 'max_output_tokens' | 'context_window'): number | undefined => {
    let most: number | undefined;
    for (const target of serving(exchange)) {
      const own =
        target.provider && catalogEntryOf(target, target.upstreamModel(exchange.model), services.catalog)?.[of];
      if (!own) return undefined;
      most = Math.max(most ?? 0, own);
    }
    return most;
  };
  return {
    highest: (exchange, prompt) => {
      const asked = prompt === undefined ? undefined : questionOf(exchange, prompt, services.clock.now());
      const known = serving(exchange).flatMap(
        (target) =>
          services.catalog.tokenPrice(target.catalogProvider, target.upstreamModel(exchange.model), asked) ?? [],
      );
      return known.length < 2 ? known[0] : known.reduce(dearerPrice);
    },
    longestAnswer: (exchange) => longest(exchange, 'max_output_tokens'),
    longestContext: (exchange) => longest(exchange, 'context_window'),
  };
}

/** What the request asks that has prices of its own, and how long its prompt is by estimate. */
export function questionOf({ request, clientRequest }: Exchange, input: number, at: number): PriceQuestion {
  return {
    input,
    at,
    tier: wordOf(
      request['service_tier'] ?? clientRequest?.value['service_tier'] ?? clientRequest?.value['serviceTier'],
    ),
    speed: wordOf(request['speed'] ?? clientRequest?.value['speed']),
    region: wordOf(request['inference_geo'] ?? clientRequest?.value['inference_geo']),
    size: wordOf(request['size']),
    quality: wordOf(request['quality']),
    searchSize: searchSizeOf(request),
  };
}
