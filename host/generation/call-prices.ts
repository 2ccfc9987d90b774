import { dearerPrice, type Exchange, type PluginPrices, type PriceQuestion, SURFACES } from '../contract/index.ts';
import { searchSizeOf, wordOf } from '../common/prices/asked-words.ts';
import type { CatalogPricing } from '../common/prices/catalog-pricing.ts';
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
  /** The most of an amount that the prices of the targets which may serve come to; 0 where none of them has prices. */
  readonly dearest: (exchange: Exchange, amount: (pricing: CatalogPricing) => number) => number;
  /** Whether every target that may serve has prices, and all of them are 0. */
  readonly isFree: (exchange: Exchange) => boolean;
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
    dearest: (exchange, amount) =>
      serving(exchange).reduce((most, target) => {
        const entry = catalogEntryOf(target, target.upstreamModel(exchange.model), services.catalog);
        return entry ? Math.max(most, amount(entry.pricing)) : most;
      }, 0),
    isFree: (exchange) => {
      const targets = serving(exchange);
      return (
        targets.length > 0 &&
        targets.every((target) => {
          const entry = catalogEntryOf(target, target.upstreamModel(exchange.model), services.catalog);
          return target.provider !== undefined && entry !== undefined && isFreeBy(entry.pricing);
        })
      );
    },
  };
}

/** What of the prices of a model is not an amount of money. */
const NO_AMOUNTS: ReadonlySet<string> = new Set(['audio_minimum_seconds', 'when', 'times']);

/** Whether there are prices, and each is 0, in all lines. Images of another model have prices that are not looked for. */
export function isFreeBy(pricing: object): boolean {
  let prices = 0;
  const isNothing = (value: unknown): boolean => {
    if (typeof value === 'number') {
      prices += 1;
      return value === 0;
    }
    if (typeof value !== 'object' || value === null) return true;
    return Object.entries(value).every(
      ([name, member]) => NO_AMOUNTS.has(name) || (name !== 'image_tool_model' && isNothing(member)),
    );
  };
  return isNothing(pricing) && prices > 0;
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
