import { hash } from 'node:crypto';
import type { RedisClientType } from '@redis/client';
import type { Clock, Timer } from '../../host/common/clock.ts';
import type { Log } from '../../host/contract/index.ts';
import type { AllTaken, Ask, SharedLimits } from '../../host/state/shared-limits.ts';
import { MEMBER_SCRIPT } from './member-script.ts';
import { nameOf, rootOf, runScript } from './run-script.ts';
import { TAKE_SCRIPT } from './take-script.ts';

/** Milliseconds between two words of a process, and for which it counts as alive after one. */
export const MEMBER_BEAT_MS = 2000;
export const MEMBER_LEASE_MS = 15_000;
/** Characters of a mark. */
const MARK_SIZE = 16;

export interface RedisLimitsDeps {
  readonly client: RedisClientType;
  readonly clock: Clock;
  readonly log: Log;
  /** Tells these gateways from others on the same server. */
  readonly prefix: string;
  /** This process, among those. */
  readonly id: string;
  /** Runs with each word of this process, after the server has answered it. */
  readonly heard?: () => Promise<void>;
}

/** Buckets on a server that speaks the protocol of Redis: each request that has a limit asks for all its buckets in one step, by the server's time. */
export class RedisLimits implements SharedLimits {
  readonly #deps: RedisLimitsDeps;
  readonly #root: string;
  /** What a server that lost everything does not know. */
  #mark: string | undefined;
  #replicas = 1;
  #isUp = false;
  #next: Timer | undefined;
  #isClosed = false;

  constructor(deps: RedisLimitsDeps) {
    this.#deps = deps;
    this.#root = rootOf(deps.prefix);
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  get replicas(): number {
    return this.#replicas;
  }

  async takeAll(asks: readonly Ask[]): Promise<AllTaken> {
    const answer = await runScript(
      this.#deps.client,
      TAKE_SCRIPT,
      asks.map(({ spec, key }) => `${this.#root}t:${nameOf(spec.group, key)}`),
      asks.flatMap(({ spec: { ratePerSecond, burst }, cost, floor }) => [
        String(ratePerSecond / 1000),
        String(burst),
        String(cost),
        floor === Number.NEGATIVE_INFINITY ? '' : String(floor),
      ]),
    );
    const [refused, wait, ...levels] = answer.map(Number);
    if (levels.length !== asks.length) throw new Error('the server answers something else than was asked');
    return {
      refusedAt: refused === 0 ? undefined : Number(refused) - 1,
      retryAfterMs: Number.isNaN(wait) ? Number.POSITIVE_INFINITY : Number(wait),
      levels,
    };
  }

  /** Says that this process lives, now and every two seconds. Resolves after the first word, whatever came of it. */
  async beat(): Promise<void> {
    const { clock, id } = this.#deps;
    try {
      const mark = hash('sha256', `${id} ${clock.now()}`).slice(0, MARK_SIZE);
      const [live, stands] = await runScript(
        this.#deps.client,
        MEMBER_SCRIPT,
        [`${this.#root}m`, `${this.#root}e`],
        [id, String(MEMBER_LEASE_MS), mark],
      );
      this.#take(Math.max(1, Number(live)), String(stands));
      await this.#deps.heard?.();
    } catch {
      this.#isUp = false; // the requests that need it say why
    }
    if (!this.#isClosed) this.#next = clock.timer(MEMBER_BEAT_MS, () => void this.beat());
  }

  /** Others divide what is left without this process at once. */
  async leave(): Promise<void> {
    this.#isClosed = true;
    this.#next?.cancel();
    await this.#deps.client.zRem(`${this.#root}m`, this.#deps.id);
  }

  #take(live: number, mark: string): void {
    if (this.#mark !== undefined && this.#mark !== mark) this.#deps.log.warn('the shared state began anew');
    this.#mark = mark;
    this.#isUp = true;
    this.#replicas = live;
  }
}
