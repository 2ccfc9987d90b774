import type { SecretReference } from '../../config/references.ts';
import type { ClosingServices } from '../../boundary/dispose.ts';
import type { RequestTrace } from '../../boundary/module-log.ts';
import type { Counters, ProviderModule } from '../../contract/index.ts';
import type { Variables } from '../../environment/variables.ts';
import type { Redactor } from '../../log/redact.ts';
import type { EgressSettings } from '../egress/egress.ts';
import type { Credential, ProviderInstance } from '../instance.ts';
import type { SecretForm, SecretHolder, SecretValues } from '../secrets/secret-values.ts';
import type { Transport } from '../transport.ts';

/** One secret, not yet resolved. */
export interface SecretPlan {
  /** Its key in the block: `api_key`. */
  readonly key: string;
  readonly reference: SecretReference;
  readonly form: SecretForm;
  readonly holder: SecretHolder;
  /** Where it stands in the document. */
  readonly path: string;
}

/** Values of secrets by their keys. */
export type SecretTexts = ReadonlyMap<string, string>;

/** A credential as it is written. */
export interface CredentialPlan extends Omit<
  Credential,
  'instance' | 'connected' | 'digest' | 'refreshedAt' | 'takenAt'
> {
  readonly secrets: readonly SecretPlan[];
  /** Whether its calls carry none, although those of its kind do. */
  readonly isKeyless: boolean;
  /** What the kind reads in the place of its variables. */
  variables(values: SecretTexts): Variables;
}

/** An entry of `providers` as it is written: nothing of it is resolved or opened. */
export interface InstancePlan extends Omit<ProviderInstance, 'credentials'> {
  readonly module: ProviderModule;
  /** The file that a third-party kind was imported from. */
  readonly file: string | undefined;
  /** Where it stands in the document. */
  readonly path: string;
  readonly credentials: readonly CredentialPlan[];
  /** Secrets of the whole instance: headers, the password of its proxy. */
  readonly shared: readonly SecretPlan[];
  /** How its calls leave. */
  readonly leaving: Leaving;
}

export interface Leaving extends Omit<EgressSettings, 'provider'> {
  /** A file of authorities. */
  readonly caFile: string | undefined;
}

/** The key of a header's secret among those of its instance. */
export const headerKey = (header: string): string => `header ${header}`;
export const PROXY_KEY = 'proxy-authorization';

/** What instances are opened with. */
export interface OpenDeps {
  readonly secrets: SecretValues;
  readonly services: ClosingServices & {
    readonly counters: Counters;
    readonly redactor: Redactor;
    readonly transport: Transport;
    readonly trace: RequestTrace;
  };
  /** True for a command that only answers questions: nothing is watched, and nothing is opened by the network. */
  readonly isOffline: boolean;
  /** Hears of an instance that had no connection and has one now: the configuration is to be built once more. */
  readonly onRegistered: () => void;
}
