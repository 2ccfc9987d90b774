import { type Clock, within } from '../../host/common/clock.ts';
import { HOUR_MS } from '../../host/common/once-per.ts';
import type { IssuerState } from '../../host/config/identity/identity-place.ts';
import { errorMessage } from '../../host/common/error-message.ts';
import type { Log } from '../../host/contract/index.ts';
import type { Issuer } from './issuer.ts';
import { keysIn, type PublicKey } from './key-set.ts';
import { KeysRefused } from './keys-refused.ts';
import { type Metadata, metadataUrl, readMetadata } from './metadata.ts';

/** Keys are looked at again when they are this old and one is needed: a key that the issuer has removed counts no longer. */
const FRESH_MS = 600_000;
/** An issuer is asked about keys that it does not list at most so often, and about anything while it does not answer. */
const REST_MS = 30_000;
const WAIT_MS = 5000;

interface KeysDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Asks for a document of JSON. */
  readonly ask: (url: string) => Promise<unknown>;
}

/** Why there is no key: the issuer has none, or is away. */
export type NoKey = 'unknown' | 'unavailable';

/**
 * The keys of one issuer. They are asked for when a request needs them, and once after the start. While the issuer is away those that are known count,
 * as long as `staleMs` says. See docs/identity.md#when-an-issuer-is-away.
 */
export class IssuerKeys {
  readonly #deps: KeysDeps;
  readonly #issuer: Issuer;
  #keys: readonly PublicKey[] = [];
  #readAt = Number.NEGATIVE_INFINITY;
  #metadata: Metadata | undefined;
  #metadataAt = Number.NEGATIVE_INFINITY;
  #asking: Promise<void> | undefined;
  #failedAt: number | undefined;
  /** When a key was asked for that the set had not. */
  #missedAt = Number.NEGATIVE_INFINITY;
  #state: IssuerState['state'] = 'not asked';

  constructor(issuer: Issuer, deps: KeysDeps) {
    this.#issuer = issuer;
    this.#deps = deps;
  }

  /** The key of that id, or the only one that fits where a token names none. */
  async find(kid: string | undefined, algorithm: string): Promise<PublicKey | NoKey> {
    await this.#refresh();
    if (!this.#isKnown) return 'unavailable';
    const found = this.#pick(kid, algorithm);
    if (found) return found;
    if (this.#asking) await this.#wait(this.#asking);
    else if (this.#at() - this.#missedAt >= REST_MS) {
      this.#missedAt = this.#at();
      await this.#wait(this.ask());
    }
    return this.#pick(kid, algorithm) ?? (this.#failedAt === undefined ? 'unknown' : 'unavailable');
  }

  /** What it says of itself: of the last hour, or asked for. `undefined` while it is away. */
  async metadata(): Promise<Metadata | undefined> {
    if (this.#at() - this.#metadataAt >= HOUR_MS) await this.ask();
    return this.#at() - this.#metadataAt < HOUR_MS ? this.#metadata : undefined;
  }

  /** Asks now; those who ask meanwhile wait for the same answer. Never throws. */
  ask(): Promise<void> {
    return (this.#asking ??= this.#read().finally(() => {
      this.#asking = undefined;
    }));
  }

  get state(): Omit<IssuerState, 'name'> {
    const age = Math.floor((this.#at() - this.#readAt) / 1000);
    return {
      state: this.#state,
      keys: this.#isKnown ? this.#keys.length : 0,
      keys_age_seconds: Number.isFinite(age) ? age : undefined,
    };
  }

  get #isKnown(): boolean {
    const age = this.#at() - this.#readAt;
    return age <= Math.max(this.#issuer.staleMs, FRESH_MS);
  }

  /** Waits where what is known is old, or nothing is; while the issuer does not answer it is left alone for half a minute. */
  async #refresh(): Promise<void> {
    if (this.#isFresh) return;
    const isResting = this.#failedAt !== undefined && this.#at() - this.#failedAt < REST_MS;
    if (this.#asking) await this.#wait(this.#asking);
    else if (!isResting) await this.#wait(this.ask());
  }

  /** A request waits for an answer no longer than one takes. */
  async #wait(asking: Promise<void>): Promise<void> {
    await within(asking, WAIT_MS, this.#deps.clock, 'the issuer').catch(() => {});
  }

  get #isFresh(): boolean {
    return this.#at() - this.#readAt < FRESH_MS;
  }

  #pick(kid: string | undefined, algorithm: string): PublicKey | undefined {
    const fitting = this.#keys.filter(
      (key) => key.algorithms.includes(algorithm) && (kid === undefined || key.kid === kid),
    );
    return kid === undefined && fitting.length > 1 ? undefined : fitting[0];
  }

  async #read(): Promise<void> {
    const { url, keysUrl, algorithms } = this.#issuer;
    let place = keysUrl ?? metadataUrl(url);
    try {
      if (keysUrl === undefined && this.#at() - this.#metadataAt >= HOUR_MS) {
        this.#metadata = readMetadata(await this.#deps.ask(place), url);
        this.#metadataAt = this.#at();
      }
      place = keysUrl ?? this.#metadata?.keysUrl ?? place;
      this.#keys = keysIn(await this.#deps.ask(place), algorithms);
      this.#readAt = this.#at();
      this.#failedAt = undefined;
      this.#tell('answers', place);
    } catch (error) {
      this.#failedAt = this.#at();
      this.#tell(error instanceof KeysRefused ? 'refused' : 'away', place, error);
    }
  }

  /** Once for each state. */
  #tell(state: IssuerState['state'], url: string, error?: unknown): void {
    const before = this.#state;
    this.#state = state;
    if (state === before) return;
    const { log } = this.#deps;
    const issuer = this.#issuer.name;
    if (state === 'away')
      log.warn('issuer does not answer', { rule: 'WN36', issuer, url, reason: errorMessage(error) });
    else if (state === 'refused') log.error('issuer keys are refused', { issuer, url, reason: errorMessage(error) });
    else if (before !== 'not asked') log.info('issuer answers again', { issuer });
  }

  #at(): number {
    return this.#deps.clock.monotonic();
  }
}
