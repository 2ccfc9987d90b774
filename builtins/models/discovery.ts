import { type DiscoveredModel, GatewayError, type OutgoingRequest, parseJson } from '../../host/contract/index.ts';
import type { Timer } from '../../host/common/clock.ts';
import type { ConnectedProvider } from '../../host/upstream/connect.ts';
import type { Host } from '../../host/host.ts';
import type { LiveModelStore } from '../../host/stores/replicas/live-models.ts';
import { Cancellation } from '../../host/upstream/cancellation.ts';
import { faultAttributes, faultIn, ModuleFault } from '../../host/boundary/module-fault.ts';
import { discovered, requireHeaders } from '../../host/boundary/provider-boundary.ts';
import { withInstanceHeaders } from '../../host/upstream/egress/instance-headers.ts';
import { replyError } from '../../host/upstream/fault.ts';

/** Providers asked at the same time. See docs/reference/providers.md#live-models. */
const PARALLEL = 8;
/** One provider's whole answer. */
const LIMIT_MS = 30_000;
/** Part of the interval by which a round of one of several replicas may come early or late, so that they do not ask together. */
const JITTER = 0.1;

type ModelsById = ReadonlyMap<string, DiscoveredModel>;

/**
 * Asks every provider that can list its live models, round after round, and keeps what each said last. Where replicas share a database of the
 * configuration one of them asks, and all take what it found.
 */
export class Discovery {
  readonly #host: Host;
  readonly #onChange: () => Promise<void>;
  readonly #models = new Map<string, ModelsById>();
  readonly #stopped = new Cancellation();
  #round: Promise<void> = Promise.resolve();
  #next: Timer | undefined;
  #hasRun = false;

  constructor(host: Host, onChange: () => Promise<void>) {
    this.#host = host;
    this.#onChange = onChange;
  }

  /** Ids of a provider's live models; empty before its first answer. */
  idsOf(provider: string): Iterable<string> {
    return this.#models.get(provider)?.keys() ?? [];
  }

  /** Unix seconds; 0 when the provider did not say. */
  createdOf(provider: string, model: string): number {
    return this.#models.get(provider)?.get(model)?.created ?? 0;
  }

  /** The first round begins at once, and no request waits for it. */
  start(intervalMs: number): void {
    this.#shared?.onModels(() => void this.#inTurn(() => this.#take()));
    this.#repeat(intervalMs);
  }

  #repeat(intervalMs: number): void {
    const { clock, random } = this.#host.services;
    void this.#inTurn(() => this.#run()).then(() => {
      if (this.#stopped.cause) return;
      const waitMs = this.#shared ? intervalMs * (1 + JITTER * (2 * random() - 1)) : intervalMs;
      this.#next = clock.timer(waitMs, () => this.#repeat(intervalMs));
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
    let isChanged = await this.#take();
    const waiting = this.#asked();
    const worker = async (): Promise<void> => {
      for (let next = waiting.shift(); next; next = waiting.shift()) if (await this.#ask(next)) isChanged = true;
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    return isChanged;
  }

  /** Where another process asks, only what it has not listed in a whole interval: it may have no credential for it. */
  #asked(): ConnectedProvider[] {
    const all = [...this.#host.providers.values()].filter(({ module }) => module.discovery);
    const isFirst = !this.#hasRun;
    this.#hasRun = true;
    if (!this.#shared || this.#shared.isLeader()) return all;
    return isFirst ? [] : all.filter(({ module }) => !this.#models.has(module.name));
  }

  /** Takes what is shared; true when something of it differs. */
  async #take(): Promise<boolean> {
    const lists = await this.#shared?.read().catch(() => undefined); // its store has logged why
    let isChanged = false;
    for (const [name, models] of lists ?? []) if (this.#put(name, distinct(models))) isChanged = true;
    return isChanged;
  }

  /** True when the list differs from the last one. */
  #put(name: string, found: ModelsById): boolean {
    const before = this.#models.get(name);
    if (found.size === 0 || (before && isEqual(before, found))) return false;
    this.#models.set(name, found);
    return true;
  }

  /** True when the list differs from the last one. A provider that fails keeps what it had. */
  async #ask(provider: ConnectedProvider): Promise<boolean> {
    const { name } = provider.module;
    try {
      const found = await this.#list(provider);
      if (found.size > 0) await this.#shared?.keep(name, [...found.values()]).catch(() => {}); // its store has logged why
      return this.#put(name, found);
    } catch (error) {
      const fault = faultIn(error);
      if (!this.#stopped.cause)
        this.#host.log.warn('live models could not be listed', {
          ...(fault && faultAttributes(fault)),
          provider: name,
          error,
        });
      return false;
    }
  }

  async #list(provider: ConnectedProvider): Promise<ModelsById> {
    const { module, ref, root, basicAuthorization, egress } = provider;
    const { discovery } = module;
    if (!discovery) return new Map();
    const { clock, transport } = this.#host.services;
    const cancellation = new Cancellation();
    const timer = clock.timer(LIMIT_MS, () =>
      cancellation.cancel(new GatewayError('upstream_timeout', `no answer within ${LIMIT_MS} ms`)),
    );
    const stopListening = this.#stopped.onCancel((cause) => cancellation.cancel(cause));
    try {
      const unsigned = {
        method: 'GET',
        url: root + discovery.path,
        headers: withInstanceHeaders({ accept: 'application/json' }, egress?.headers),
        body: undefined,
      };
      const headers = {
        ...(basicAuthorization !== undefined && { authorization: basicAuthorization }),
        ...unsigned.headers,
        ...(await authorization(provider, unsigned)),
      };
      const reply = await transport.unary({
        request: { ...unsigned, headers },
        cancellation,
        egress,
        connectTimeoutMs: LIMIT_MS,
        headersTimeoutMs: LIMIT_MS,
      });
      if (reply.status >= 300 && reply.status < 400)
        throw new Error(redirection(reply.status, reply.headers['location'], unsigned.url));
      if (reply.status !== 200) throw replyError(module, reply, clock.now(), ref.file);
      return distinct(discovered(ref, discovery, parseJson(reply.body.toString('utf8'))));
    } finally {
      timer.cancel();
      stopListening();
    }
  }
}

/** A provider that fails to make its credential is named. */
async function authorization(
  { ref, authorize, credentials }: ConnectedProvider,
  request: OutgoingRequest,
): Promise<Readonly<Record<string, string>>> {
  try {
    return requireHeaders(await authorize(request, credentials));
  } catch (thrown) {
    throw thrown instanceof GatewayError ? thrown : new ModuleFault(ref, 'authorize', thrown);
  }
}

/** Where a redirect leads that is not followed, without what may be secret in it. See docs/reference/providers.md#addresses. */
function redirection(status: number, location: string | undefined, from: string): string {
  if (!location) return `it answers ${status} without a Location`;
  const target = URL.parse(location, from);
  if (!target) return `it answers ${status} with a Location that is not an address`;
  const where = URL.canParse(location) ? `${target.protocol}//${target.host}` : 'a relative address';
  return `it answers ${status} and leads to ${where}, ${target.host === new URL(from).host ? 'the same host' : 'another host'}; redirects are not followed`;
}

/** Upstreams repeat ids, and leave some empty. */
function distinct(models: readonly DiscoveredModel[]): ModelsById {
  return new Map(models.filter(({ id }) => typeof id === 'string' && id !== '').map((model) => [model.id, model]));
}

function isEqual(before: ModelsById, after: ModelsById): boolean {
  return (
    before.size === after.size &&
    [...after].every(([id, { created }]) => before.has(id) && before.get(id)?.created === created)
  );
}
