import type { Unit } from '../common/budgets/key-budget.ts';

/** What taps of `explainTarget`, `explainRequest` and `explainCharge` add to an explanation. A member is there only where it applies. */

/** What is said of one target, or route of a group, that would be tried. */
export interface ExplainedRoute {
  /** Those that may be used for the model, in the order in which they would be. */
  credentials?: readonly ExplainedCredential[];
}

export interface ExplainedCredential {
  readonly name: string;
  /** `unknown` where no gateway runs whose calls would say. */
  readonly state: 'ready' | 'resting' | 'benched' | 'unresolved' | 'drained' | 'unknown';
  /** RFC 3339. */
  readonly until?: string;
  /** The class of failure that it is benched for. */
  readonly class?: string;
  /** Whether it is the one that would be called first. */
  readonly first: boolean;
}

/** What is said of the whole request. */
export interface ExplainedRequest {
  /** Its session, and where that goes. */
  affinity?: ExplainedAffinity;
  /** The place that its earlier turns bind it to. */
  bound?: ExplainedPlace;
  /** The budgets that it asks, in their order. */
  budgets?: readonly ExplainedBudget[];
  /** The model that is used because a budget is spent, where one names another. */
  over?: string;
}

/** A budget that a request asks: dollars, tokens or requests. What is spent is known where a gateway runs. */
export interface ExplainedBudget {
  /** What its sum is kept under. */
  readonly name: string;
  readonly of: 'key' | 'session' | 'account' | 'tag';
  readonly unit: Unit;
  /** With raises. */
  readonly limit: number;
  readonly spent: number | null;
  /** What calls in flight hold. */
  readonly reserved: number | null;
  /** What the request would hold; `null` where nothing bounds it, and the budget asks for a bound. */
  readonly expected: number | null;
  readonly grants: boolean | null;
}

export interface ExplainedAffinity {
  /** Where its session is named. */
  readonly source: string;
  /** The first 8 hexadecimal digits of the session's digest. */
  readonly digest: string;
  /** Where it goes first. */
  readonly home?: ExplainedPlace;
  /** Where it goes in place of that, because it was served there. */
  readonly override?: ExplainedPlace;
}

export interface ExplainedPlace {
  readonly target: string;
  /** The key of the route, where that is not the target's name. */
  readonly route?: string;
  readonly credential?: string;
  readonly vendor_account?: string;
}
