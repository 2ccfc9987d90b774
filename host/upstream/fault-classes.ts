import type { ErrorCode, FaultReason, UpstreamFault } from '../contract/index.ts';

/** What follows from a kind of failure. What is absent follows from the status, as for failures of no known kind. See docs/reference/data-plane.md#classes-of-faults. */
export interface FaultClass {
  /** Code and status for the client, by the upstream's status; `undefined` inside an answer. */
  readonly code?: (status: number | undefined) => ErrorCode;
  /** What the client reads where it does not read what the upstream said, or that said nothing. */
  readonly says?: string;
  /** The client reads what the upstream said. */
  readonly quotes?: true;
  /** What the upstream said is about the gateway's account, and stays in the log. */
  readonly isPrivate?: true;
  /** Another try at this target cannot do better. */
  readonly isOver?: true;
  /** Whether the next target follows: always, or where `failover_on` lists it. */
  readonly advances?: 'always' | 'listed';
  readonly counts?: 'failure' | 'ignored';
  /** A repeat by the client cannot succeed. */
  readonly isFinal?: true;
}

const OF_REQUEST: FaultClass = {
  code: () => 'invalid_request',
  quotes: true,
  isOver: true,
  advances: 'listed',
  counts: 'ignored',
};

const CLASSES: Readonly<Record<FaultReason, FaultClass>> = {
  context_length: { ...OF_REQUEST, says: "this request exceeds the model's context window" },
  content_policy: { ...OF_REQUEST, says: 'the provider declines this content' },
  too_large: {
    code: () => 'request_too_large',
    says: 'the provider takes no request of this size',
    isOver: true,
    advances: 'listed',
    counts: 'ignored',
    isFinal: true,
  },
  billing: {
    code: (status) => (status === 429 ? 'rate_limit_exceeded' : 'upstream_auth_error'),
    says: "the gateway's account at the provider has no credit left",
    isPrivate: true,
    isOver: true,
    advances: 'always',
    counts: 'failure',
    isFinal: true,
  },
  model_access: {
    code: (status) => (status === 404 ? 'model_not_found' : 'upstream_auth_error'),
    says: "the gateway's account at the provider may not use this model",
    isPrivate: true,
    isOver: true,
    advances: 'listed',
    counts: 'ignored',
  },
  key: {
    code: () => 'upstream_auth_error',
    says: "the provider refused the gateway's credential",
    isPrivate: true,
    counts: 'failure',
  },
  over_rate: {
    code: () => 'rate_limit_exceeded',
    says: "the provider's rate limit is exceeded",
    isOver: true,
    advances: 'always',
    counts: 'ignored',
    isFinal: true,
  },
  overload: {},
};

const UNKNOWN: FaultClass = Object.freeze({});

/** What follows from a failure's kind. */
export function classOf(fault: Pick<UpstreamFault, 'reason'> | undefined): FaultClass {
  return (fault?.reason !== undefined && Object.hasOwn(CLASSES, fault.reason) && CLASSES[fault.reason]) || UNKNOWN;
}
