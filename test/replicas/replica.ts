import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type GatewayProcess,
  MASTER_KEY,
  type Relay,
  startGateway,
  startRelay,
  temporaryFolder,
} from '../kit/index.ts';

/** One answer of a replica; `status` is `BROKEN_OFF` or `NOT_SENT` where there was none. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Milliseconds of the test's clock at which the request was sent and its answer was whole. */
  readonly sentAt: number;
  readonly at: number;
  /** Which of the replica's processes it was sent to, counted from 0. */
  readonly life: number;
}

/** The connection ended, or time ran out, before an answer was whole: it may have been done. */
export const BROKEN_OFF = 0;
/** No process was there to take it. */
export const NOT_SENT = -1;

/** Milliseconds that a request may take before the test gives it up; a stopped process answers nothing. */
const GIVE_UP_MS = 20_000;

/** Milliseconds within which what was answered is written where nothing is wrong, with room for a busy machine. */
const WRITTEN_WITHIN_MS = 3000;

/** Dollars for a token, high enough for a budget's figures to be exact. */
export const PRICE = 0.001;

/** The configuration that all replicas begin with, and that `marker` tells from others. */
export const configuration = (marker: string): object => ({
  targets: [{ virtual_key: 'echo' }],
  aliases: { latest: marker },
  plugins: [
    ...['before_request', 'after_request'].map((stage) => ({
      name: 'budget',
      stage,
      enabled: true,
      config: { input_per_m_tokens: PRICE * 1e6, output_per_m_tokens: PRICE * 1e6, spend_limit_usd: 1e6 },
    })),
    { name: 'request-logger', stage: 'after_request', enabled: true, config: { persist: true } },
  ],
});

/** A gateway process behind a relay of its own to the store that all share. It can be killed, stopped for a while, and started again. */
export class Replica {
  readonly name: string;
  readonly relay: Relay;
  readonly #file: string;
  #gateway: GatewayProcess | undefined;
  /** The number of the process that runs, or ran last. */
  life = -1;
  /** Since when nothing was wrong with it or on its way to the store; undefined while something is. */
  wellSince: number | undefined;
  /** When what goes wrong now, or went wrong last, began. */
  illSince = Number.POSITIVE_INFINITY;
  /** Until when what a process had answered is surely kept, by the number of the process; of others all of it is. */
  readonly keptUntil = new Map<number, number>();

  /** Milliseconds after which it is itself again when what was wrong has passed. */
  readonly wellWithinMs: number;

  private constructor(name: string, relay: Relay, file: string, wellWithinMs: number) {
    this.name = name;
    this.wellWithinMs = wellWithinMs;
    this.relay = relay;
    this.#file = file;
  }

  static async make(name: string, dsn: string, wellWithinMs: number): Promise<Replica> {
    const file = join(await temporaryFolder(), 'config.json');
    await writeFile(file, JSON.stringify(configuration('first')));
    return new Replica(name, await startRelay(dsn), file, wellWithinMs);
  }

  /** The id of the process that runs; 0 while there is none. */
  get pid(): number {
    return this.#gateway?.child.pid ?? 0;
  }

  get isUp(): boolean {
    return this.#gateway !== undefined;
  }

  async start(): Promise<void> {
    const dsn = this.relay.url;
    const stores = ['API_KEY_STORE', 'CONFIG_STORE', 'REQUEST_LOG_STORE'].flatMap((prefix) => [
      [`${prefix}_BACKEND`, 'postgres'],
      [`${prefix}_DSN`, dsn],
    ]);
    this.#gateway = await startGateway({
      variables: { ...(Object.fromEntries(stores) as Record<string, string>), MASTER_KEY, GATEWAY_CONFIG: this.#file },
    });
    this.life += 1;
    this.well();
  }

  well(): void {
    this.wellSince = performance.now();
  }

  ill(): void {
    if (this.wellSince !== undefined) this.illSince = performance.now();
    this.wellSince = undefined;
  }

  /** What a process that ends had not written is lost: of one that is killed the last moments, and whatever waited for the store. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const gateway = this.#gateway;
    const now = performance.now();
    const isBehind = this.wellSince === undefined || now - this.wellSince < this.wellWithinMs;
    if (isBehind || signal === 'SIGKILL')
      this.keptUntil.set(this.life, (isBehind ? Math.min(this.illSince, now) : now) - WRITTEN_WITHIN_MS);
    this.#gateway = undefined;
    return (await gateway?.stop(signal)) ?? null;
  }

  /** Stops the process, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#gateway?.child.kill(signal);
  }

  /** Lines of the log of the running process at a level. */
  lines(level: string): readonly Record<string, unknown>[] {
    return this.#gateway?.lines.filter((line) => line['level'] === level) ?? [];
  }

  async ask(method: string, path: string, bearer: string, body?: object): Promise<Answer> {
    const { life } = this;
    const sentAt = performance.now();
    const answer = await this.#fetch(method, path, bearer, body).catch((error: unknown) => ({
      status: isRefusal(error) ? NOT_SENT : BROKEN_OFF,
      body: '',
    }));
    return { ...answer, sentAt, at: performance.now(), life };
  }

  async #fetch(method: string, path: string, bearer: string, body?: object): Promise<{ status: number; body: string }> {
    if (!this.#gateway) return { status: NOT_SENT, body: '' };
    const answer = await fetch(`${this.#gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(GIVE_UP_MS),
    });
    return { status: answer.status, body: await answer.text() };
  }
}

/** Whether the connection was refused: what `fetch` throws has the reason as its cause. */
function isRefusal(error: unknown): boolean {
  return ((error as Error).cause as { code?: unknown } | undefined)?.code === 'ECONNREFUSED';
}
