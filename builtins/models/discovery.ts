import { hash } from 'node:crypto';
import { GatewayError } from '../../host/contract/index.ts';
import { type Timer, within } from '../../host/common/clock.ts';
import type { ConnectedProvider } from '../../host/upstream/connect.ts';
import type { FirstModels } from '../../host/generation/instances/first-models.ts';
import type { Host } from '../../host/host.ts';
import type { LiveModelStore } from '../../host/stores/replicas/live-models.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { faultAttributes, faultIn } from '../../host/boundary/module-fault.ts';
import { connectionOf, type ProviderInstance } from '../../host/upstream/instance.ts';
import { distinct, liveModels, type ModelsById } from './live-list.ts';

/** Providers asked at the same time. See docs/reference/providers.md#live-models. */
const PARALLEL = 8;
/** All that a configuration waits for before it serves. See docs/reference/providers.md#live-models. */
const FIRST_LIMIT_MS = 5_000;
/** Between rounds for instances that say themselves that they are asked, where no interval is set. */
const INSTANCE_INTERVAL_MS = 300_000;
/** A round asks no instance that was asked such a short time ago, before it served. */
const RECENT_MS = 30_000;
/** Part of the interval by which a round of one of several replicas may come early or late, so that they do not ask together. */
const JITTER = 0.1;

/** Who is asked, under which name lines speak of it, and what its answer is kept by. */
interface Asked {
  readonly name: string;
  readonly key: string;
  readonly provider: ConnectedProvider;
}

/**
 * Asks every provider that can list its live models, round after round, and keeps what each said last. Where replicas share a database of the
 * configuration one of them asks, and all take what it found.
 */
export class Discovery {
  readonly #host: Host;
  readonly #onChange: () => Promise<void>;
  readonly #models = new Map<string, ModelsById>();
  /** What the last instance of a name kept its answers by. */
  readonly #keys = new Map<string, string>();
  /** When instances were asked before they served, in monotonic milliseconds. */
  readonly #heard = new WeakMap<ProviderInstance, number>();
  readonly #stopped = new Cancellation();
  #round: Promise<void> = Promise.resolve();
  #next: Timer | undefined;
  #hasRun = false;

  constructor(host: Host, onChange: () => Promise<void>) {
    this.#host = host;
    this.#onChange = onChange;
  }

  /** Ids of a provider's live models; empty before its first answer. */
  idsOf(provider: string, instance: ProviderInstance | undefined): Iterable<string> {
    return this.#models.get(keyOf(provider, instance))?.keys() ?? [];
  }

  /** Unix seconds; 0 when the provider did not say. */
  createdOf(provider: string, model: string): number {
    const key = keyOf(provider, this.#host.current?.instances.get(provider));
    return this.#models.get(key)?.get(model)?.created ?? 0;
  }

  /** The first round begins at once, and no request waits for it. */
  start(intervalMs: number): void {
    this.#shared?.onModels(() => void this.#inTurn(() => this.#take()));
    this.#repeat(intervalMs);
  }

  /**
   * Asks the instances of a configuration that is about to serve and that were not asked yet. It waits for those that nothing else
   * names a model of, 5 s in all; the others' answers follow.
   */
  async askFirst({ instances, isRefresh, failed }: FirstModels): Promise<void> {
    const asking = instances.filter(({ instance }) => this.#discovers(instance));
    const { discoveryIntervalMs } = this.#host.settings;
    if (asking.length > 0 && discoveryIntervalMs === undefined) this.#wait(INSTANCE_INTERVAL_MS);
    const isNew = ({ instance }: { instance: ProviderInstance }): boolean => !this.#heard.has(instance);
    const first = asking.filter((one) => one.isUnnamed && (isNew(one) || (!isRefresh && this.#isMute(one.instance))));
    const others = asking.filter((one) => !one.isUnnamed && isNew(one)).map(({ instance }) => instance);
    const now = this.#host.services.clock.monotonic();
    for (const instance of [...first.map(({ instance }) => instance), ...others]) this.#heard.set(instance, now);
    if (others.length > 0)
      void this.#inTurn(() => this.#askAll(others.flatMap((instance) => this.#ofInstance(instance))));
    const mute = await this.#askNow(first.map(({ instance }) => instance));
    for (const instance of mute) failed(instance);
    for (const { instance } of asking) this.#keep(instance);
  }

  /** Those that gave no list within the time. */
  async #askNow(instances: readonly ProviderInstance[]): Promise<readonly ProviderInstance[]> {
    if (instances.length === 0) return [];
    const asked = async (instance: ProviderInstance): Promise<boolean> => {
      if (this.#shared && !this.#shared.isLeader() && !this.#isMute(instance)) return true;
      const [one] = this.#ofInstance(instance);
      return one !== undefined && (await this.#ask(one)) !== 'failed';
    };
    const answered = new Set<ProviderInstance>();
    const asking = this.#take().then(() =>
      Promise.all(
        instances.map(async (instance) => {
          if (await asked(instance)) answered.add(instance);
        }),
      ),
    );
    const inTime = within(asking, FIRST_LIMIT_MS, this.#host.services.clock, 'the first models');
    await inTime.catch(() => {
      void asking.then(() => this.#inTurn(async () => true)); // what is late is taken then
    });
    return instances.filter((instance) => !answered.has(instance));
  }

  /** A name whose address has changed keeps what was listed before until its service says what there is now. */
  #keep(instance: ProviderInstance): void {
    const key = keyOf(instance.name, instance);
    const before = this.#keys.get(instance.name);
    const models = before === undefined || this.#models.has(key) ? undefined : this.#models.get(before);
    if (models) this.#models.set(key, models);
    this.#keys.set(instance.name, key);
  }

  #isMute(instance: ProviderInstance): boolean {
    return !this.#models.has(keyOf(instance.name, instance));
  }

  #discovers(instance: ProviderInstance): boolean {
    if (!connectionOf(instance)?.module.discovery || instance.models) return false;
    return instance.discover ?? this.#host.settings.discoveryIntervalMs !== undefined;
  }

  #repeat(intervalMs: number): void {
    void this.#inTurn(() => this.#run()).then(() => {
      if (this.#host.settings.discoveryIntervalMs !== undefined || this.#instances().length > 0) this.#wait(intervalMs);
    });
  }

  #wait(intervalMs: number): void {
    const { clock, random } = this.#host.services;
    if (this.#stopped.cause || this.#next) return;
    const waitMs = this.#shared ? intervalMs * (1 + JITTER * (2 * random() - 1)) : intervalMs;
    this.#next = clock.timer(waitMs, () => {
      this.#next = undefined;
      this.#repeat(intervalMs);
    });
  }

  /** One after another; what changed is applied. */
  #inTurn(work: () => Promise<boolean>): Promise<void> {
    this.#round = this.#round.then(async () => {
      if (this.#stopped.cause || !(await work()) || this.#stopped.cause) return;
      await this.#onChange().catch((error: unknown) =>
        this.#host.log.error('the live models could not be applied', { error }),
      );
    });
    return this.#round;
  }

  get #shared(): LiveModelStore | undefined {
    return this.#host.stores.liveModels.value;
  }

  async stop(): Promise<void> {
    this.#stopped.cancel(new GatewayError('client_canceled', 'the gateway is shutting down'));
    this.#next?.cancel();
    await this.#round;
  }

  /** True when something changed. */
  async #run(): Promise<boolean> {
    const isChanged = await this.#take();
    return (await this.#askAll(this.#asked())) || isChanged;
  }

  /** True when something changed. */
  async #askAll(asked: readonly Asked[]): Promise<boolean> {
    let isChanged = false;
    const waiting = [...asked];
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift())
        if ((await this.#ask(next)) === 'changed') isChanged = true;
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    return isChanged;
  }

  /** Where another process asks, only what it has not listed in a whole interval: it may have no credential for it. */
  #asked(): Asked[] {
    const isFirst = !this.#hasRun;
    this.#hasRun = true;
    const since = this.#host.services.clock.monotonic() - RECENT_MS;
    const instances = this.#instances().filter((instance) => (this.#heard.get(instance) ?? since) <= since);
    const all = [...this.#environment(), ...instances.flatMap((instance) => this.#ofInstance(instance))];
    if (!this.#shared || this.#shared.isLeader()) return all;
    return isFirst ? [] : all.filter(({ key }) => !this.#models.has(key));
  }

  #environment(): Asked[] {
    const { current, providers, settings } = this.#host;
    if (settings.discoveryIntervalMs === undefined) return [];
    return [...(current?.environment ?? providers)].flatMap(([name, provider]) =>
      provider.module.discovery && !current?.unasked.has(name) ? [{ name, key: name, provider }] : [],
    );
  }

  /** With the first credential that is ready, as far as a configuration that serves knows its instance. */
  #ofInstance(instance: ProviderInstance): Asked[] {
    const { current } = this.#host;
    const isServing = current?.instances.get(instance.name) === instance;
    const ready = isServing ? current.hooks.credentials.call()?.firstReady(instance)?.connected : undefined;
    const provider = ready ?? connectionOf(instance);
    return provider ? [{ name: instance.name, key: keyOf(instance.name, instance), provider }] : [];
  }

  #instances(): ProviderInstance[] {
    return [...(this.#host.current?.instances.values() ?? [])].filter((instance) => this.#discovers(instance));
  }

  /** Takes what is shared; true when something of it differs. */
  async #take(): Promise<boolean> {
    const lists = await this.#shared?.read().catch(() => undefined); // its store has logged why
    let isChanged = false;
    for (const [name, models] of lists ?? []) if (this.#put(name, distinct(models))) isChanged = true;
    return isChanged;
  }

  /** True when the list differs from the last one. */
  #put(key: string, found: ModelsById): boolean {
    const before = this.#models.get(key);
    if (found.size === 0 || (before && isEqual(before, found))) return false;
    this.#models.set(key, found);
    return true;
  }

  /** Whether the list differs from the last one. A provider that fails keeps what it had. */
  async #ask({ name, key, provider }: Asked): Promise<'changed' | 'unchanged' | 'failed'> {
    try {
      const found = await liveModels(provider, { ...this.#host.services, stopped: this.#stopped });
      if (found.size > 0) await this.#shared?.keep(key, [...found.values()]).catch(() => {}); // its store has logged why
      return this.#put(key, found) ? 'changed' : 'unchanged';
    } catch (error) {
      const fault = faultIn(error);
      if (!this.#stopped.cause)
        this.#host.log.warn('live models could not be listed', {
          ...(fault && faultAttributes(fault)),
          provider: name,
          error,
        });
      return 'failed';
    }
  }
}

/** Answers of an instance are kept by its address too: another service of that name has other models. */
function keyOf(name: string, instance: ProviderInstance | undefined): string {
  if (!instance) return name;
  return `${name} ${hash('sha256', `${instance.kind}\0${instance.baseUrl ?? ''}`).slice(0, 12)}`;
}

function isEqual(before: ModelsById, after: ModelsById): boolean {
  return (
    before.size === after.size &&
    [...after].every(([id, { created }]) => before.has(id) && before.get(id)?.created === created)
  );
}
