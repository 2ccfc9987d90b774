import type { Target } from '../target.ts';
import type { BenchClass } from '../../upstream/credentials/credential-states.ts';
import type { Credential, ProviderInstance } from '../../upstream/instance.ts';

/** What administrators and explanations see of a credential. Its value is never among it. */
export interface CredentialView {
  readonly name: string;
  readonly vendorAccount: string;
  readonly state: 'ready' | 'resting' | 'benched' | 'unresolved';
  readonly class: BenchClass | undefined;
  /** Unix milliseconds at which the state ends, or may be tried for its end. */
  readonly until: number | undefined;
  /** Upstream models that it rests for, or is benched for by themselves. */
  readonly modelsResting: number;
  readonly inFlight: number;
  readonly weight: number;
  readonly maxConcurrency: number | undefined;
  /** Unix milliseconds. */
  readonly refreshedAt: number;
}

/** How many credentials of an instance are in which state, and whether one can be called for some model, which includes those that rest. */
export interface CredentialCounts {
  readonly ready: number;
  readonly resting: number;
  readonly benched: number;
  readonly unresolved: number;
  readonly isRoutable: boolean;
}

/** What the credentials of an instance can do for an upstream model now. */
export type Usability = 'usable' | 'resting' | 'unusable' | 'not_allowed';

/** Whether something can be called for a target: it is registered, and of a declared instance a credential is neither benched nor unresolved. */
export function hasCredential(
  { provider, instance }: Pick<Target, 'provider' | 'instance'>,
  { credentials }: { readonly credentials: { call(): CredentialDesk | undefined } },
): boolean {
  if (!provider) return false;
  return !instance || credentials.call()?.counts(instance).isRoutable !== false;
}

/** The credentials of declared instances: the hook `credentials` of a generation gives it. */
export interface CredentialDesk {
  /** In the order of the configuration. */
  views(instance: ProviderInstance): readonly CredentialView[];
  /** For one upstream model: those whose list of models allows it, in the order of calls, which is that of a session where one is given. */
  viewsFor(
    instance: ProviderInstance,
    upstreamModel: string,
    order?: readonly Credential[],
  ): readonly (CredentialView & { readonly isFirst: boolean })[];
  counts(instance: ProviderInstance): CredentialCounts;
  /** With an account, of its credentials alone. */
  usability(instance: ProviderInstance, upstreamModel: string, account?: string): Usability;
  /** The first that is ready for every model: what asks for lists of models calls with it. */
  firstReady(instance: ProviderInstance): Credential | undefined;
  /** Forgets what keeps a credential from calls. False where there is none of this name. */
  reset(instance: string, credential: string): boolean;
}
