import type { TargetConfig } from '../../../../host/config/document.ts';
import type { ProviderModule } from '../../../../host/contract/index.ts';
import type { Entry } from '../reading.ts';

/** Settings of a target that a document may state, once or several times. */
export type TargetSetting = Exclude<keyof TargetConfig, 'virtual_key' | 'models' | 'model_map' | 'settings'>;

/** A value of the document, with what it becomes where that is another text. */
export interface Placed {
  readonly entry: Entry;
  /** Such as `https://{}.openai.azure.com`, where the document has a part of it. */
  readonly as?: string | undefined;
}

export type PlacedMap = ReadonlyMap<string, Placed>;

/** One place that requests go to: what makes it another one than the next. */
export interface PlaceParts {
  readonly module: ProviderModule;
  /** What the document calls it. */
  readonly called?: string | undefined;
  readonly address?: Placed | undefined;
  readonly settings: ReadonlyMap<string, Placed>;
  readonly headers: readonly (readonly [name: string, entry: Entry])[];
  /** Where the document first names it. */
  readonly source: Entry;
}

/** One set of secrets of a place. */
export interface CredentialParts {
  readonly called?: string | undefined;
  /** By the key of `providers`. */
  readonly secrets: ReadonlyMap<string, Placed>;
  readonly organization?: Entry | undefined;
}

export interface PlannedCredential extends CredentialParts {
  /** Weights of the document, of each entry that uses it. */
  readonly weights: Entry[];
  weight: number | undefined;
  calls: { readonly count: number; readonly entry: Entry } | undefined;
  /** Upstream models that it is used for; `undefined` for all. */
  models: Set<string> | undefined;
  /** Whether the document bounds it to those, also where it is the only one. */
  isBound?: boolean;
}

/** Where the document has a value of the place, or of a credential, again. */
export interface Repeats {
  readonly repeats: Entry[];
}

export interface PlannedInstance extends PlaceParts, Repeats {
  credentials: readonly PlannedCredential[];
  readonly settled: Map<TargetSetting, unknown>;
  /** Where a setting of the target was stated. */
  readonly stated: Map<TargetSetting, Entry>;
  /** Whether only names of the document are served: without its own lists of models. */
  isClosed: boolean;
  anyModel: boolean | undefined;
}

export interface PlannedRoute {
  readonly instance: PlannedInstance;
  readonly credential: PlannedCredential;
  /** The upstream model, `*` at its end for what stands for that of the name; `undefined` for the name asked for. */
  readonly model: string | undefined;
  /** Share of the traffic. */
  weight: number;
  /** Lower ones are asked first. */
  readonly tier: number;
  /** Where the document says so. */
  readonly entry: Entry;
  /** Whether it is asked on another surface than chat, by a path of its own. */
  readonly hasOwnPath?: boolean | undefined;
}

/** What a condition of a strategy asks. */
export interface ConditionRule {
  readonly key: 'metadata' | 'model';
  readonly field?: string;
  readonly value: string;
}

/** A name that clients ask for. */
export interface PlannedName {
  readonly name: string;
  routes: readonly PlannedRoute[];
  readonly fallbacks: { readonly name: string; readonly entry: Entry }[];
  readonly failoverOn: Set<string>;
  /** The strategy, where there are several routes. */
  mode: string;
  affinity: boolean;
  isListed: boolean;
  /** Conditions, each with the route that it leads to. */
  conditions?: readonly { readonly rule: ConditionRule; readonly route: PlannedRoute }[];
  /** Statuses after which the next route is asked. */
  statuses?: readonly number[];
}
