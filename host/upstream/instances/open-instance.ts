import type { Problem } from '../../config/problems.ts';
import type { ProviderInstance } from '../instance.ts';
import { connectionOf } from '../instance.ts';
import type { InstancePlan, OpenDeps } from './instance-plan.ts';
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
  readonly #deps: OpenDeps;
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
    this.#deps = deps;
    this.#shared = new SecretSet(plan.shared, deps, () => {
      for (const credential of this.credentials) credential.renew();
    });
    const given = { of: plan, deps, shared: this.#shared, onRenewed: () => this.#renewed() };
    this.credentials = plan.credentials.map((credential) => new OpenCredential(credential, given));
  }

  /** What keeps it, or a credential of it, from serving. */
  get problems(): readonly Problem[] {
    return [...this.#shared.problems, ...this.credentials.flatMap(({ problems }) => problems)];
  }

  /** Opens what is not open yet, and what failed before where it is to be tried `again`. Never throws. */
  async open(again: boolean): Promise<void> {
    await this.#shared.open();
    await Promise.all(this.credentials.map((credential) => credential.open(again)));
    this.#isRegistered = connectionOf(this) !== undefined;
  }

  async close(): Promise<void> {
    this.#shared.end();
    await Promise.all(this.credentials.map((credential) => credential.close()));
  }

  #renewed(): void {
    if (this.#isRegistered) return;
    this.#isRegistered = true;
    this.#deps.onRegistered();
  }
}
