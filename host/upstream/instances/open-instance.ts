import { errorMessage } from '../../common/error-message.ts';
import type { Problem } from '../../config/problems.ts';
import type { ProviderInstance } from '../instance.ts';
import { connectionOf } from '../instance.ts';
import { AuthorityFile } from '../egress/authorities.ts';
import { Egress, type EgressDeps } from '../egress/egress.ts';
import { headerKey, type InstancePlan, type OpenDeps, PROXY_KEY, type SecretTexts } from './instance-plan.ts';
import { countInitFailure } from './instance-figures.ts';
import { OpenCredential } from './open-credential.ts';
import { SecretSet } from './secret-set.ts';

/**
 * An instance with its credentials, open for as long as some configuration has its block unchanged. It serves what it has:
 * a credential that does not resolve, or cannot be opened, is left out until it can.
 */
export class OpenInstance implements ProviderInstance {
  readonly name: string;
  readonly kind: string;
  readonly baseUrl: string | undefined;
  readonly catalogProvider: string;
  readonly catalog: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly discover: boolean | undefined;
  readonly anyModel: boolean;
  readonly configuredModels: readonly string[];
  readonly credentials: readonly OpenCredential[];
  readonly #shared: SecretSet;
  readonly #plan: InstancePlan;
  readonly #deps: OpenDeps;
  #authorities: AuthorityFile | undefined;
  /** Why its authorities could not be read. */
  #failure: unknown;
  #isRegistered = false;

  constructor(plan: InstancePlan, deps: OpenDeps) {
    this.name = plan.name;
    this.kind = plan.kind;
    this.baseUrl = plan.baseUrl;
    this.catalogProvider = plan.catalogProvider;
    this.catalog = plan.catalog;
    this.models = plan.models;
    this.discover = plan.discover;
    this.anyModel = plan.anyModel;
    this.configuredModels = plan.configuredModels;
    this.#plan = plan;
    this.#deps = deps;
    this.#shared = new SecretSet(plan.shared, deps, () => {
      for (const credential of this.credentials) credential.renew();
    });
    const given = {
      of: plan,
      deps,
      shared: this.#shared,
      egressOf: (values: SecretTexts) => this.#egressOf(values),
      onRenewed: () => this.#renewed(),
    };
    this.credentials = plan.credentials.map((credential) => new OpenCredential(credential, given));
  }

  /** What keeps it, or a credential of it, from serving. */
  get problems(): readonly Problem[] {
    const own = this.#failure === undefined ? [] : [this.#failed()];
    return [...own, ...this.#shared.problems, ...this.credentials.flatMap(({ problems }) => problems)];
  }

  /** Opens what is not open yet, and what failed before where it is to be tried `again`. Never throws. */
  async open(again: boolean): Promise<void> {
    await this.#shared.open();
    if (await this.#readAuthorities(again))
      await Promise.all(this.credentials.map((credential) => credential.open(again)));
    this.#isRegistered = connectionOf(this) !== undefined;
  }

  async close(): Promise<void> {
    this.#shared.end();
    this.#authorities?.end();
    await Promise.all(this.credentials.map((credential) => credential.close()));
  }

  /** False where they cannot be read: no call is made without them. A command that only answers questions makes none at all. */
  async #readAuthorities(again: boolean): Promise<boolean> {
    const { caFile } = this.#plan.leaving;
    const { isOffline, secrets, services } = this.#deps;
    if (caFile === undefined || isOffline || this.#authorities) return true;
    if (this.#failure !== undefined && !again) return false;
    try {
      const { log } = services;
      this.#authorities = await AuthorityFile.open(caFile, { files: secrets.files, provider: this.name, log });
      this.#failure = undefined;
      return true;
    } catch (error) {
      this.#failure = error;
      services.log.warn('provider could not be set up, it is skipped', { rule: 'WN13', provider: this.name, error });
      countInitFailure(services.counters, this.name);
      return false;
    }
  }

  #failed(): Problem {
    const said = this.#deps.services.redactor.excerpt(errorMessage(this.#failure));
    return {
      path: `${this.#plan.path}.tls.ca_file`,
      rule: 'WN13',
      message: `the provider "${this.name}" could not be set up: ${said}`,
      fix: 'mend what the message names',
    };
  }

  #egressOf(shared: SecretTexts): Egress {
    if (this.#failure !== undefined) throw this.#failure;
    const { redactor, log } = this.#deps.services;
    const deps: EgressDeps = {
      secretOf: (header) => shared.get(headerKey(header)),
      proxyPassword: shared.get(PROXY_KEY),
      authorities: this.#authorities,
      redactor,
      log,
    };
    return new Egress({ provider: this.name, ...this.#plan.leaving }, deps);
  }

  #renewed(): void {
    if (this.#isRegistered) return;
    this.#isRegistered = true;
    this.#deps.onRegistered();
  }
}
