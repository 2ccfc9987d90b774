import type { Server } from 'node:https';
import type { Clock, Timer } from '../../common/clock.ts';
import type { Counters, Log } from '../../contract/index.ts';
import type { TlsSettings } from '../../environment/tls-settings.ts';
import type { ListenerName } from '../context.ts';
import { isKeyOpen, type LoadedTls, loadTls, tlsDigest } from './tls-files.ts';

/** How often the files are looked at, in milliseconds. */
const LOOK_MS = 10_000;
const DAY_MS = 86_400_000;
/** A certificate that ends sooner is warned of, once a day. */
const SOON_MS = 14 * DAY_MS;

interface WatchDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly counters: Counters;
}

/** The certificate of a listener, replaced when its files change. Open connections live on with the one that they began with. */
export class TlsWatch {
  readonly listener: ListenerName;
  readonly #settings: TlsSettings;
  readonly #deps: WatchDeps;
  #loaded: LoadedTls;
  #server: Server | undefined;
  /** What the files held at the last look, where that is not what is in force: a change counts when two looks see the same. */
  #seen: string | undefined;
  /** Content that could not be used, which is logged once. */
  #refused: string | undefined;
  #timer: Timer | undefined;
  #warnedAt = Number.NEGATIVE_INFINITY;

  /** Throws a `TlsFault` for files that cannot be used. */
  constructor(listener: ListenerName, settings: TlsSettings, deps: WatchDeps) {
    this.listener = listener;
    this.#settings = settings;
    this.#deps = deps;
    this.#loaded = loadTls(settings);
  }

  get loaded(): LoadedTls {
    return this.#loaded;
  }

  get clientAuth(): TlsSettings['clientAuth'] {
    return this.#settings.clientAuth;
  }

  /** From now on its files are looked at. */
  watch(server: Server): void {
    this.#server = server;
    if (isKeyOpen(this.#settings))
      this.#deps.log.warn('the key of the listener may be read by every user of this machine', {
        rule: 'WN38',
        file: this.#settings.key.path,
      });
    this.#warnOfEnd();
    this.#timer = this.#deps.clock.timer(LOOK_MS, () => this.#look());
  }

  /** A client that could not be spoken to. */
  failed(code: string, address: string | undefined): void {
    const { log, counters } = this.#deps;
    counters.add('gateway_tls_handshake_failures_total', { listener: this.listener });
    log.debug('tls handshake failed', {
      listener: this.listener,
      code,
      ...(address !== undefined && { remote: address }),
    });
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    this.#timer?.refresh();
    this.#warnOfEnd();
    const digest = tlsDigest(this.#settings);
    if (digest === this.#loaded.digest) {
      this.#seen = undefined;
      this.#refused = undefined;
    } else if (digest !== this.#seen) this.#seen = digest;
    else if (digest !== this.#refused) this.#reload(digest);
  }

  #reload(digest: string): void {
    const { listener } = this;
    const { log } = this.#deps;
    try {
      const loaded = loadTls(this.#settings);
      if (loaded.digest !== digest) return; // written once more in between
      this.#server?.setSecureContext(loaded.options);
      this.#loaded = loaded;
      this.#seen = undefined;
      this.#warnedAt = Number.NEGATIVE_INFINITY;
      const { notAfter, serial } = loaded;
      log.info('tls certificate reloaded', { listener, not_after: new Date(notAfter).toISOString(), serial });
    } catch (error) {
      this.#refused = digest;
      log.error('tls certificate not reloaded', { listener, error });
    }
  }

  #warnOfEnd(): void {
    const now = this.#deps.clock.now();
    const { notAfter } = this.#loaded;
    if (notAfter - now > SOON_MS || now - this.#warnedAt < DAY_MS) return;
    this.#warnedAt = now;
    this.#deps.log.warn(notAfter <= now ? 'the tls certificate has ended' : 'the tls certificate ends soon', {
      rule: 'WN37',
      listener: this.listener,
      not_after: new Date(notAfter).toISOString(),
    });
  }
}
