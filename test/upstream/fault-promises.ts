import type { FaultReason } from '../../host/contract/index.ts';

/** What the reference promises of each class; what follows from the status is `undefined`. */
export interface Promised {
  readonly client?: (status: number | undefined) => readonly [number, string];
  readonly says?: string;
  readonly isRetried?: boolean;
  readonly goesOn?: 'always' | 'listed';
  readonly counts?: 'failure' | 'ignored';
  readonly isFinal?: boolean;
  readonly isPrivate?: boolean;
}

const REFUSED: Promised = {
  client: () => [400, 'invalid_request'],
  isRetried: false,
  goesOn: 'listed',
  counts: 'ignored',
};

export const PROMISED: Readonly<Record<FaultReason, Promised>> = {
  context_length: REFUSED,
  content_policy: REFUSED,
  too_large: {
    client: () => [413, 'request_too_large'],
    says: 'the provider takes no request of this size',
    isRetried: false,
    goesOn: 'listed',
    counts: 'ignored',
    isFinal: true,
  },
  billing: {
    client: (status) => (status === 429 ? [429, 'rate_limit_exceeded'] : [502, 'upstream_auth_error']),
    says: "the gateway's account at the provider has no credit left",
    isRetried: false,
    goesOn: 'always',
    counts: 'failure',
    isFinal: true,
    isPrivate: true,
  },
  model_access: {
    client: (status) => (status === 404 ? [404, 'model_not_found'] : [502, 'upstream_auth_error']),
    says: "the gateway's account at the provider may not use this model",
    isRetried: false,
    goesOn: 'listed',
    counts: 'ignored',
    isPrivate: true,
  },
  key: {
    client: () => [502, 'upstream_auth_error'],
    says: "the provider refused the gateway's credential",
    counts: 'failure',
    isPrivate: true,
  },
  over_rate: {
    client: () => [429, 'rate_limit_exceeded'],
    says: "the provider's rate limit is exceeded",
    isRetried: false,
    goesOn: 'always',
    counts: 'ignored',
    isFinal: true,
  },
  overload: {},
};
