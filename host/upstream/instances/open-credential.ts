import { hash } from 'node:crypto';
import { TookTooLong, within } from '../../common/clock.ts';
import { errorMessage } from '../../common/error-message.ts';
import type { Problem } from '../../config/problems.ts';
import { faultAttributes, ModuleFault, type ModuleRef } from '../../boundary/module-fault.ts';
import { type ConnectedProvider, connectProvider, disposeProvider } from '../connect.ts';
import type { Egress } from '../egress/egress.ts';
import type { Credential } from '../instance.ts';
import { sendHttp } from '../send-http.ts';
import type { CredentialPlan, InstancePlan, OpenDeps, SecretTexts } from './instance-plan.ts';
import { countInitFailure, countRefresh } from './instance-figures.ts';
import { SecretSet } from './secret-set.ts';

/** Longest time that opening a connection may take: some kinds ask for a token, or look for credentials in several places. */
const OPEN_LIMIT_MS = 30_000;
/** A connection that another has replaced is closed this much later: calls that began with it may still sign with it. */
const RETIRED_MS = 3_600_000;

/** What a credential has of its instance. */
interface OfInstance {
  readonly of: InstancePlan;
  readonly deps: OpenDeps;
  readonly shared: SecretSet;
  /** How calls leave with these values of what is shared. */
  readonly egressOf: (shared: SecretTexts) => Egress;
  /** Its connection is another one. */
  readonly onRenewed: () => void;
}

const nothing = (): void => {};

interface Retired {
  readonly provider: ConnectedProvider;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** One credential of an open instance. Another value of a secret gives it another connection, in place. */
export class OpenCredential implements Credential {
  readonly instance: string;
  readonly name: string;
  readonly vendorAccount: string;
  readonly isLabelled: boolean;
  readonly weight: number;
  readonly maxConcurrency: number | undefined;
  readonly #plan: CredentialPlan;
  readonly #of: InstancePlan;
  readonly #deps: OpenDeps;
  readonly #own: SecretSet;
  /** Secrets of the whole instance: no call leaves without them. */
  readonly #shared: SecretSet;
  readonly #egressOf: OfInstance['egressOf'];
  readonly #onRenewed: () => void;
  #connected: ConnectedProvider | undefined;
  #digest = '';
  #refreshedAt = 0;
  #takenAt = 0;
  #failure: unknown;
  /** Takes back that it uses its connections. */
  #release = nothing;
  #retired: Retired[] = [];
  #opening: Promise<void> | undefined;
  #isStale = false;
  /** It has been opened, or cannot be for the time being. */
  #isTried = false;
  /** It is being opened with a configuration, and not for another value. */
  #isOpening = false;
  #isClosed = false;

  constructor(plan: CredentialPlan, { of, deps, shared, egressOf, onRenewed }: OfInstance) {
    this.instance = of.name;
    this.name = plan.name;
    this.vendorAccount = plan.vendorAccount;
    this.isLabelled = plan.isLabelled;
    this.weight = plan.weight;
    this.maxConcurrency = plan.maxConcurrency;
    this.#plan = plan;
    this.#of = of;
    this.#deps = deps;
    this.#shared = shared;
    this.#egressOf = egressOf;
    this.#onRenewed = onRenewed;
    this.#own = new SecretSet(plan.secrets, deps, () => this.renew());
  }

  get hasModels(): boolean {
    return this.#plan.hasModels;
  }

  allows(upstreamModel: string): boolean {
    return this.#plan.allows(upstreamModel);
  }

  get connected(): ConnectedProvider | undefined {
    return this.#connected;
  }

  get digest(): string {
    return this.#digest;
  }

  get refreshedAt(): number {
    return this.#refreshedAt;
  }

  get takenAt(): number {
    return this.#takenAt;
  }

  /** Why it cannot be used; empty where it can. */
  get problems(): readonly Problem[] {
    if (this.#connected) return [];
    const unresolved = this.#own.problems;
    return unresolved.length > 0 || this.#failure === undefined ? unresolved : [this.#failed()];
  }

  /** Resolves its secrets and opens its connection, unless that is done; what failed is tried `again` where that is asked for. Never throws: failures are logged. */
  async open(again: boolean): Promise<void> {
    await this.#own.open();
    if (!this.#connected && (again || !this.#isTried)) {
      this.#isOpening = true;
      await this.#inTurn();
      this.#isOpening = false;
    }
    this.#isTried = true;
  }

  /** Takes the present values of its secrets. */
  renew(): void {
    this.#isStale = true;
    if (!this.#opening && !this.#isClosed) void this.#inTurn();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#own.end();
    this.#release();
    const all = [...this.#retired.map(({ provider }) => provider), ...(this.#connected ? [this.#connected] : [])];
    this.#retired = [];
    await Promise.all(all.map((provider) => disposeProvider(provider, this.#deps.services)));
  }

  /** One opening after another: each takes the values that are there when it begins. */
  #inTurn(): Promise<void> {
    return (this.#opening ??= this.#openUntilCurrent().finally(() => {
      this.#opening = undefined;
    }));
  }

  async #openUntilCurrent(): Promise<void> {
    do {
      this.#isStale = false;
      await this.#openOnce();
    } while (this.#isStale && !this.#isClosed);
  }

  async #openOnce(): Promise<void> {
    const [own, shared] = [this.#own.values, this.#shared.values];
    if (!own || !shared) return;
    const digest = digestOf([...own, ...shared]);
    if (this.#connected && digest === this.#digest) return;
    try {
      this.#take(await this.#connect(own, shared), digest);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #connect(own: SecretTexts, shared: SecretTexts): Promise<ConnectedProvider> {
    const { services, isOffline } = this.#deps;
    const { clock, log, trace } = services;
    const { module, file } = this.#of;
    const egress = this.#egressOf(shared);
    const connecting = connectProvider(module, this.#plan.variables(own), {
      log,
      now: clock.now,
      send: sendHttp({ ...services, egress }),
      trace,
      file,
      isOffline,
      declared: { isKeyless: this.#plan.isKeyless, hasSecrets: this.#plan.secrets.length > 0 },
      egress,
    });
    try {
      return await within(connecting, OPEN_LIMIT_MS, clock, `open of the provider "${this.instance}"`);
    } catch (error) {
      if (error instanceof TookTooLong)
        void connecting.then(
          (late) => disposeProvider(late, services),
          () => {},
        );
      throw error;
    }
  }

  #take(provider: ConnectedProvider, digest: string): void {
    const { services } = this.#deps;
    if (this.#isClosed) {
      void disposeProvider(provider, services);
      return;
    }
    const { clock, log, counters } = services;
    const before = this.#connected;
    const isRenewal = !this.#isOpening;
    this.#connected = provider;
    this.#digest = digest;
    this.#refreshedAt = clock.now();
    this.#takenAt = clock.monotonic();
    this.#failure = undefined;
    if (before) this.#retire(before);
    const release = provider.egress && services.transport.hold(provider.root, provider.egress);
    this.#release();
    this.#release = release ?? nothing;
    if (!isRenewal) return;
    log.info('credential refreshed', { provider: this.instance, credential: this.name });
    countRefresh(counters, { provider: this.instance, credential: this.name }, 'changed');
    this.#onRenewed();
  }

  #retire(provider: ConnectedProvider): void {
    const now = this.#deps.services.clock.monotonic();
    const isOver = ({ at }: Retired): boolean => now - at >= RETIRED_MS;
    for (const { provider: old } of this.#retired.filter(isOver)) void disposeProvider(old, this.#deps.services);
    this.#retired = [...this.#retired.filter((one) => !isOver(one)), { provider, at: now }];
  }

  #failed(): Problem {
    const { services } = this.#deps;
    return {
      path: this.#of.path,
      rule: 'WN13',
      message: `the credential "${this.name}" of the provider "${this.instance}" could not be set up: ${services.redactor.excerpt(errorMessage(this.#failure))}`,
      fix: 'mend what the message names',
    };
  }

  /** What stands goes on serving. */
  #fail(error: unknown): void {
    if (this.#isClosed) return;
    const { log, counters } = this.#deps.services;
    const { module, file } = this.#of;
    const ref: ModuleRef = { kind: 'provider', name: module.name, file };
    const which = { provider: this.instance, credential: this.name };
    const attributes = faultAttributes(new ModuleFault(ref, 'connection', error), which);
    this.#failure = error;
    if (this.#connected) {
      log.warn('credential refresh failed', { rule: 'WN18', ...attributes });
      countRefresh(counters, which, 'failed');
      return;
    }
    log.warn('provider could not be set up, it is skipped', { rule: 'WN13', ...attributes });
    countInitFailure(counters, this.instance);
  }
}

/** Stands for values without telling them; empty where there are none. */
function digestOf(values: readonly (readonly [string, string])[]): string {
  return values.length === 0 ? '' : hash('sha256', JSON.stringify(values.toSorted(([a], [b]) => (a < b ? -1 : 1))));
}
