import { errorMessage } from '../../host/common/error-message.ts';
import type { Timer } from '../../host/common/clock.ts';
import type { OfflineHost } from '../../host/generation/offline.ts';
import { shownAddress, withShownAddresses } from './address.ts';

const REFRESH_MS = 24 * 60 * 60 * 1000;

export interface DailyFetchStart {
  readonly host: OfflineHost;
  readonly url: string;
  readonly maxBytes: number;
  /** Milliseconds for a whole fetch, redirects and body included. */
  readonly timeoutMs: number;
  readonly userAgent: string;
  /** What is done with the text; what it throws counts as a failed fetch. */
  readonly use: (text: string) => Promise<void>;
  /** What is said of a failure, in the log. */
  readonly failed: { readonly message: string; readonly more: () => object };
}

/** Fetches a text now and every 24 hours from now. Whatever fails is logged, and changes nothing. */
export class DailyFetch {
  readonly #start: DailyFetchStart;
  readonly #closing = new AbortController();
  #timer: Timer | undefined;
  #fetching: Promise<void> | undefined;

  constructor(start: DailyFetchStart) {
    this.#start = start;
    this.#refresh();
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Ends a fetch under way and the waiting for the next. */
  async close(): Promise<void> {
    this.#timer?.cancel();
    this.#closing.abort(new Error('the gateway is shutting down'));
    await this.#fetching;
  }

  /** Fetches once more, unless that is no longer needed after a fetch that is under way. Resolves when it has been done, however it went. */
  async again(isNeeded: () => boolean): Promise<void> {
    await this.#fetching;
    if (this.isClosing || !isNeeded()) return;
    this.#timer?.cancel();
    this.#refresh();
    await this.#fetching;
  }

  #refresh(): void {
    const {
      host: {
        services: { clock, log },
      },
      url,
      failed: { message, more },
    } = this.#start;
    this.#timer = clock.timer(REFRESH_MS, () => this.#refresh());
    this.#fetching = this.#fetch().catch((error: unknown) => {
      if (!this.isClosing) log.warn(message, { url: shownAddress(url), ...more(), error: reasonOf(error) });
    });
  }

  async #fetch(): Promise<void> {
    const { host, url, maxBytes, timeoutMs, userAgent, use } = this.#start;
    const call = this.#bounded(timeoutMs);
    let text: string;
    try {
      const { fetchCatalog } = await import('./fetch.ts'); // most gateways never fetch anything
      text = await fetchCatalog({ url, maxBytes, variables: host.variables, userAgent, signal: call.signal });
    } finally {
      call.end();
    }
    await use(text);
  }

  /** A signal that fires after the time, or when the gateway closes. */
  #bounded(timeoutMs: number): { readonly signal: AbortSignal; end(): void } {
    const call = new AbortController();
    const closing = this.#closing.signal;
    const stop = (): void => call.abort(closing.reason);
    const timer = this.#start.host.services.clock.timer(timeoutMs, () =>
      call.abort(new Error(`no whole answer within ${timeoutMs} ms`)),
    );
    closing.addEventListener('abort', stop);
    return {
      signal: call.signal,
      end: () => {
        timer.cancel();
        closing.removeEventListener('abort', stop);
      },
    };
  }
}

/** An error as one line, without the secrets that addresses in it may hold. */
function reasonOf(error: unknown): string {
  return withShownAddresses(errorMessage(error));
}
