import type { Clock } from '../../common/clock.ts';
import { OncePer } from '../../common/once-per.ts';
import type { LogColumnName } from '../../contract/log-columns.ts';
import type { Redactor } from '../../log/redact.ts';
import { copied } from '../../stores/log/row-values.ts';
import { SESSION_PREFIX } from '../../stores/sessions/session-store.ts';
import { bearerOf } from '../bearer.ts';
import { limiterKey } from '../client-address.ts';
import { rawPath, type RequestContext } from '../context.ts';

const MOST_ADDRESSES = 1000;
const LONGEST_TEXT = 256;
/** How often a session that is over counts, by address, in milliseconds: a page that was left open asks every few seconds. */
const SESSION_MS = 60_000;
/** Stands for what is not recorded. */
const OMITTED = 'omitted';

/** What came from one address, an IPv6 network of 64 bits being one. Times are Unix milliseconds. */
export interface DeniedAddress {
  readonly address: string;
  missing: number;
  invalid: number;
  readonly firstAt: number;
  lastAt: number;
  /** What the last request said. */
  userAgent: string;
  path: string;
}

export interface DeniedDeps {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>;
  readonly redactor: Redactor;
  /** Columns of the request log that stay empty. */
  readonly omit: readonly LogColumnName[];
}

/** One request, as it is counted. */
export interface DeniedRequest {
  /** The address, or its network. */
  readonly key: string;
  readonly why: 'missing' | 'invalid';
  readonly userAgent: string;
  readonly path: string;
}

/** Requests whose credential is missing or not known, by address, in memory. Nothing of a credential is kept. */
export class DeniedCredentials {
  /** Unix milliseconds. */
  readonly since: number;
  /** Hears of each, for another process of this gateway. */
  tell: ((seen: DeniedRequest) => void) | undefined;
  readonly #deps: DeniedDeps;
  /** The one seen last stands last. */
  readonly #addresses = new Map<string, DeniedAddress>();
  readonly #sessions = new OncePer(SESSION_MS);
  #requests = 0;
  #forgotten = 0;

  constructor(deps: DeniedDeps) {
    this.#deps = deps;
    this.since = deps.clock.now();
  }

  /** The one seen last comes first. */
  get addresses(): readonly DeniedAddress[] {
    return [...this.#addresses.values()].toReversed();
  }

  get requests(): number {
    return this.#requests;
  }

  /** Addresses that made room for others. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Whether it counts. */
  note(context: RequestContext, why: 'missing' | 'invalid'): boolean {
    const { clock } = this.#deps;
    const key = limiterKey(context.address);
    if (isOfPage(context) && !this.#sessions.isFirst(key, clock.monotonic())) return false;
    const seen: DeniedRequest = {
      key,
      why,
      userAgent: this.#omits('user_agent') ? OMITTED : this.#short(context.request.headers['user-agent'] ?? ''),
      path: this.#short(context.misspelling?.path ?? rawPath(context.request)),
    };
    this.record(seen);
    this.tell?.(seen);
    return true;
  }

  /** Counts one that this process, or another one of this gateway, has seen. */
  record({ key, why, userAgent, path }: DeniedRequest): void {
    const { clock } = this.#deps;
    const known = this.#addresses.get(key) ?? this.#begin(key);
    this.#addresses.delete(key);
    this.#addresses.set(key, known);
    if (why === 'missing') known.missing += 1;
    else known.invalid += 1;
    known.lastAt = clock.now();
    Object.assign(known, { userAgent, path });
    this.#requests += 1;
  }

  #begin(key: string): DeniedAddress {
    const [oldest] = this.#addresses.keys();
    if (oldest !== undefined && this.#addresses.size >= MOST_ADDRESSES) {
      this.#addresses.delete(oldest);
      this.#forgotten += 1;
    }
    const now = this.#deps.clock.now();
    const address = this.#omits('address') ? OMITTED : key;
    return { address, missing: 0, invalid: 0, firstAt: now, lastAt: now, userAgent: '', path: '' };
  }

  #omits(column: LogColumnName): boolean {
    return this.#deps.omit.includes(column);
  }

  #short(text: string): string {
    return copied(this.#deps.redactor.excerpt(text, LONGEST_TEXT)); // else a whole header would be kept
  }
}

/** A session of the dashboard that is over. */
function isOfPage({ request, protectedBy }: RequestContext): boolean {
  if (protectedBy?.plane === 'data') return false;
  const credential = bearerOf(request);
  return typeof credential === 'string' && credential.startsWith(SESSION_PREFIX);
}
