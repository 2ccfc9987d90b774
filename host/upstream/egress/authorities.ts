import { createHash, X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates } from 'node:tls';
import { errorMessage } from '../../common/error-message.ts';
import type { Log } from '../../contract/index.ts';
import type { Watch, WatchedFiles } from '../secrets/watched-files.ts';
import type { Authorities } from './way.ts';

const MAX_BYTES = 1024 * 1024;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

export interface AuthorityDeps {
  readonly files: WatchedFiles;
  /** The name of the instance. */
  readonly provider: string;
  readonly log: Pick<Log, 'warn' | 'info'>;
}

/** The file of `tls.ca_file`: public, so it may lie anywhere. It is looked at until `end`; where it cannot be read, what it held last stands. */
export class AuthorityFile {
  readonly #path: string;
  readonly #deps: AuthorityDeps;
  /** What was logged since it could be read. */
  readonly #logged = new Set<string>();
  #current: Authorities;
  #watch: Watch | undefined;

  private constructor(path: string, deps: AuthorityDeps, first: Authorities) {
    this.#path = path;
    this.#deps = deps;
    this.#current = first;
  }

  /** Throws where the file cannot be read, or holds something else than certificates. */
  static async open(path: string, deps: AuthorityDeps): Promise<AuthorityFile> {
    let opened: AuthorityFile | undefined;
    const watch = await deps.files.watch({ path, maxBytes: MAX_BYTES }, (outcome) => {
      if (opened) opened.#take(outcome);
    });
    try {
      const { outcome } = watch;
      if ('reason' in outcome) throw new Error(outcome.reason);
      opened = new AuthorityFile(path, deps, readAuthorities(outcome.text));
    } catch (cause) {
      watch.end();
      throw new Error(`the authorities of "${path}" cannot be read`, { cause });
    }
    opened.#watch = watch;
    return opened;
  }

  get current(): Authorities {
    return this.#current;
  }

  end(): void {
    this.#watch?.end();
  }

  #take(outcome: Watch['outcome']): void {
    const { provider, log } = this.#deps;
    try {
      if ('reason' in outcome) throw new Error(outcome.reason);
      const next = readAuthorities(outcome.text);
      this.#logged.clear();
      if (next.digest === this.#current.digest) return;
      this.#current = next;
      log.info('authorities refreshed', { provider, path: this.#path });
    } catch (error) {
      const reason = errorMessage(error);
      if (this.#logged.has(reason)) return;
      this.#logged.add(reason);
      log.warn('credential refresh failed', { rule: 'WN18', provider, reference: this.#path, reason });
    }
  }
}

/** The authorities of a PEM text, beside those of every program. Throws on a text without a certificate, or with a broken one. */
function readAuthorities(pem: string): Authorities {
  const own = pem.match(CERTIFICATE) ?? [];
  if (own.length === 0) throw new Error('it holds no certificate in PEM');
  const unread = own.findIndex((text) => !isCertificate(text));
  if (unread >= 0) throw new Error(`its certificate ${unread + 1} cannot be read`);
  return {
    digest: createHash('sha256').update(own.join('\n')).digest('base64url'),
    secureContext: () => createSecureContext({ ca: [...getCACertificates('default'), ...own] }),
  };
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
