/** What taps of `explainTarget` and `explainRequest` add to an explanation. A member is there only where it applies. */

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
