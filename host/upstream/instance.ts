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
  /** Its address as it is written; `undefined` for that of its kind. */
  readonly baseUrl: string | undefined;
  /** Name that asks the catalog for its models and prices: see `instanceCatalog`. */
  readonly catalogProvider: string;
  /** The provider of the catalog that it has models of; `undefined` where the operator's own entries are all. */
  readonly catalog: string | undefined;
  /** Ids in the place of those that the catalog, its kind and the service itself know; `undefined` leaves these. */
  readonly models: readonly string[] | undefined;
  /** Whether the service is asked for its models; `undefined` where the gateway's interval says so. */
  readonly discover: boolean | undefined;
  /** Whether it may be asked for any model that no target owns. */
  readonly anyModel: boolean;
  /** Models that its kind reads of its settings, whether or not a credential resolves. */
  readonly configuredModels: readonly string[];
}

/** What calls with an instance's first credential that resolves; `undefined` while none does, and then it is not registered. */
export const connectionOf = ({ credentials }: ProviderInstance): ConnectedProvider | undefined =>
  credentials.find(({ connected }) => connected)?.connected;

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
  /** Whether it has a list of the models that it may be used for. */
  readonly hasModels: boolean;
  /** Whether its list of models allows an upstream model; without a list it does. */
  allows(upstreamModel: string): boolean;
  /** What calls with its present value use; `undefined` while a reference of it, or of its instance, does not resolve. */
  readonly connected: ConnectedProvider | undefined;
  /** Stands for its present value: another value has another digest. Empty where it has no secret. */
  readonly digest: string;
  /** Unix milliseconds at which the present value was taken. */
  readonly refreshedAt: number;
  /** Monotonic milliseconds at which it was taken: of two values, the later one is the present one. */
  readonly takenAt: number;
}

/** Whether the configuration leaves a credential for an upstream model, whatever state the credentials are in. */
export function mayCall(instance: ProviderInstance | undefined, upstreamModel: string): boolean {
  return (
    instance === undefined ||
    instance.credentials.some((credential) => credential.weight > 0 && credential.allows(upstreamModel))
  );
}
