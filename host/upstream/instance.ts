import type { ConnectedProvider } from './connect.ts';

/**
 * One entry of `providers`: a kind of provider under a name of its own, with its credentials. A provider that the
 * environment registers has none: its target calls `Target.provider` and nothing is chosen.
 */
export interface ProviderInstance {
  /** The name that targets, rows, figures and lines call it by. */
  readonly name: string;
  /** The name of the module that translates for it. */
  readonly kind: string;
  /** In the order of the file; at least one. */
  readonly credentials: readonly Credential[];
}

/** One set of secrets of an instance. Lives as long as its instance; its value may change meanwhile. */
export interface Credential {
  /** The name of its instance. */
  readonly instance: string;
  readonly name: string;
  /** Credentials of one kind with the same label share what the vendor keeps of them: files, caches, sealed reasoning. */
  readonly vendorAccount: string;
  /** Whether the operator wrote that label; else it is the credential's own. */
  readonly isLabelled: boolean;
  /** Its share of the calls; 0 takes no new ones. */
  readonly weight: number;
  /** Calls in flight with it; `undefined` without a bound. */
  readonly maxConcurrency: number | undefined;
  /** Whether its list of models allows an upstream model; without a list it does. */
  allows(upstreamModel: string): boolean;
  /** What calls with its present value use; `undefined` while a reference of it, or of its instance, does not resolve. */
  readonly connected: ConnectedProvider | undefined;
  /** Stands for its present value: another value has another digest. Empty where it has no secret. */
  readonly digest: string;
  /** Unix milliseconds at which the present value was taken. */
  readonly refreshedAt: number;
}

/** Whether the configuration leaves a credential for an upstream model, whatever state the credentials are in. */
export function mayCall(instance: ProviderInstance | undefined, upstreamModel: string): boolean {
  return (
    instance === undefined ||
    instance.credentials.some((credential) => credential.weight > 0 && credential.allows(upstreamModel))
  );
}
