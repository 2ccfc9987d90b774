import type { FactSources } from '../common/fact-sources.ts';
import type { ModelFacts, ReportUse } from '../contract/index.ts';
import type { TargetConfig } from '../config/document.ts';
import type { ConnectedProvider } from '../upstream/connect.ts';
import type { ProviderInstance } from '../upstream/instance.ts';
import type { RetryBudget, RetryPolicy } from './attempts/retry.ts';

/** One entry of `targets[]`, ready for requests; inside a group of models, as one route of the group uses it. */
export interface Target {
  /** The name of the target, in rows, figures and lines: what its breaker, limiter and health are kept by. */
  readonly virtualKey: string;
  /** What strategies and explanations call it: the name of the target, in a group the key of the route. */
  readonly routeKey: string;
  readonly weight: number;
  readonly config: TargetConfig;
  /** What the strategy reads of it, with defaults. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** Name that asks the catalog for its models and prices: that of its module, whatever the target is called, or the instance's own. */
  readonly catalogProvider: string;
  /** `undefined` while no credential registers its provider. Of a declared instance, what its first credential that resolves calls with. */
  readonly provider: ConnectedProvider | undefined;
  /** The entry of `providers` that it calls; `undefined` where the environment registers its provider. */
  readonly instance: ProviderInstance | undefined;
  readonly retry: RetryPolicy;
  /** Outlives a configuration change. `undefined` where `retry` allows a single try. */
  readonly retryBudget: RetryBudget | undefined;
  /** Milliseconds for one attempt; `undefined` means no limit. */
  readonly requestTimeoutMs: number | undefined;
  upstreamModel(model: string): string;
  /** What is known of an upstream model there. */
  factsOf(model: string): ModelFacts;
  /** What `factsOf` says, with what set each fact, for people and logs. */
  factSourcesOf(model: string): FactSources;
  /** The model that describes an upstream model there by the word of the configuration, as `provider/model`. */
  describedAs(model: string): string | undefined;
  /** What the configuration says of costs that vendors report; `undefined` leaves it to the provider. */
  readonly priceReports: ReportUse | undefined;
  /** Remembers what a refusal of the provider said of an upstream model, or of all; for so many milliseconds, or until another configuration is applied. */
  learn(facts: ModelFacts, of: { readonly model: string | undefined; readonly keptMs?: number | undefined }): void;
}

/** The kind of a target's provider, registered or not: the name of the module that translates for it. */
export const kindOf = ({
  provider,
  instance,
  virtualKey,
}: Pick<Target, 'provider' | 'instance' | 'virtualKey'>): string =>
  provider?.module.name ?? instance?.kind ?? virtualKey;

/** Whether it may be asked for a model that no target is known to have. */
export const takesAnyModel = ({ provider, instance }: Target): boolean =>
  provider !== undefined && (instance ? instance.anyModel : provider.module.anyModel === true);
