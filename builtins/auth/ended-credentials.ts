import { defineBuiltin } from '../../host/builtin.ts';
import type { Timer } from '../../host/common/clock.ts';
import { CredentialEnded } from '../../host/stores/credential-ended.ts';
import type { HostPrincipal } from '../../host/common/host-principal.ts';
import { HOUR_MS } from '../../host/common/once-per.ts';
import { nextTurn } from '../../host/common/next-turn.ts';
import type { Host } from '../../host/host.ts';
import type { RequestContext } from '../../host/http/context.ts';
import { endRequest } from '../../host/http/running-requests.ts';
import type { CredentialChange, Plane, Standing } from '../../host/stores/credential-standing.ts';
import type { ChangedCredential } from '../../host/stores/principals.ts';

/** What runs ends when its credential no longer stands. See docs/admin.md#what-runs-under-a-credential-that-has-ended. */
export default defineBuiltin({
  name: 'ended-credentials',
  apply: ({ hooks }) => {
    let sweep: Sweep | undefined;
    hooks.open.tapPromise('ended-credentials', async (host) => {
      sweep = new Sweep(host);
    });
    hooks.close.tapPromise('ended-credentials', async () => sweep?.close());
  },
});

/** How often all that runs is looked at, in milliseconds. */
const SWEEP_MS = 5000;
/** Younger requests were admitted a moment ago: only a change that is heard of ends them. */
const YOUNGEST_MS = 1000;
/** Requests that are looked at before others get a turn; ending one takes as long as looking at so many. */
const AT_ONCE = 1000;
const ENDING = 20;
/** Questions to a store at a time: those of one statement. */
const MOST_QUESTIONS = 500;

type Sweeping = Pick<Host, 'running' | 'counters' | 'log' | 'services'> & {
  readonly stores: Pick<Host['stores'], 'principals'>;
};

/**
 * Looks at running requests: at those of a credential as soon as it changes, and every five seconds at all, because time ends credentials too and
 * not every change is heard of. Memory answers for nearly all of them; while nothing runs, no timer does.
 */
class Sweep {
  readonly #host: Sweeping;
  #timer: Timer | undefined;
  #isClosed = false;
  readonly #looking = new Set<Promise<void>>();

  constructor(host: Sweeping) {
    this.#host = host;
    host.running.onFirst = () => this.#arm();
    host.running.onDoubt = (context) => {
      void this.#look([context]);
    };
    host.stores.principals.onChange((of, change) => this.#changed(of, change));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await Promise.all(this.#looking);
  }

  #arm(): void {
    if (!this.#isClosed) this.#timer ??= this.#host.services.clock.timer(SWEEP_MS, () => void this.#tick());
  }

  async #tick(): Promise<void> {
    const { running, services } = this.#host;
    const youngest = services.clock.monotonic() - YOUNGEST_MS;
    await this.#look(running.filter(({ arrivedAt }) => arrivedAt <= youngest));
    this.#timer = undefined;
    if (running.size > 0) this.#arm();
  }

  #changed(of: ChangedCredential, { id, isGone }: CredentialChange): void {
    const contexts = this.#host.running.filter(({ principal }) => isOf(principal, of, id));
    if (contexts.length > 0) void this.#look(contexts, isGone ? 'gone' : undefined);
  }

  /** Ends what must end: at once what memory knows of. `certain`: what all of them are worth, where that is known. */
  #look(contexts: readonly RequestContext[], certain?: Standing): Promise<void> {
    const looking: Promise<void> = this.#judge(contexts, certain)
      .catch((error: unknown) => this.#host.log.error('running requests could not be looked at', { error }))
      .finally(() => this.#looking.delete(looking));
    this.#looking.add(looking);
    return looking;
  }

  async #judge(contexts: readonly RequestContext[], certain: Standing | undefined): Promise<void> {
    const known = new Map<string, Standing>();
    const unknown = new Map<string, RequestContext[]>();
    let left = AT_ONCE;
    for (const context of contexts) {
      if (left <= 0) {
        await nextTurn();
        left = AT_ONCE;
      }
      const asked = `${planeOf(context)} ${context.digest ?? ''}`;
      const standing = certain ?? known.get(asked) ?? this.#standing(context);
      known.set(asked, standing);
      if (standing !== 'unknown') left -= this.#apply(standing, context) ? ENDING : 1;
      else if (unknown.get(asked)?.push(context) === undefined) unknown.set(asked, [context]);
    }
    if (unknown.size > 0) await this.#ask(unknown);
  }

  #standing(context: RequestContext): Standing {
    const { digest, principal } = context;
    if (digest === undefined || !principal) return 'stands';
    return this.#host.stores.principals.standing(digest, principal, planeOf(context));
  }

  /** Asks the store, once for each credential and plane. */
  async #ask(unknown: ReadonlyMap<string, readonly RequestContext[]>): Promise<void> {
    const waiting = unknown.values();
    const lane = async (): Promise<void> => {
      for (const contexts of waiting) {
        const running = contexts.find(({ isOver }) => !isOver);
        const { digest, principal } = running ?? {};
        if (this.#isClosed || !running || digest === undefined || !principal) continue;
        const standing = await this.#host.stores.principals.askStanding(digest, principal, planeOf(running));
        for (const context of contexts) this.#apply(standing, context);
      }
    };
    await Promise.all(Array.from({ length: Math.min(MOST_QUESTIONS, unknown.size) }, lane));
  }

  /** Time ends what has no end of its own. Tokens live for minutes: what one began has an hour all the same. */
  #endsByTime({ kind, principal, arrivedAt }: RequestContext): boolean {
    const isOfToken = principal?.issuer !== undefined && principal.sessionId === undefined;
    return kind === 'tunnel' && (!isOfToken || this.#host.services.clock.monotonic() - arrivedAt >= HOUR_MS);
  }

  /** Whether the request was ended. */
  #apply(standing: Standing, context: RequestContext): boolean {
    if (standing === 'stands' || standing === 'unknown') return false;
    if (standing === 'expired' && !this.#endsByTime(context)) return false;
    if (!endRequest(context, new CredentialEnded())) return false;
    const { counters, log } = this.#host;
    counters.add('gateway_credentials_ended_total', { kind: context.kind });
    log.debug('a request was ended with its credential', {
      trace_id: context.id,
      api_key_id: context.principal?.id,
      reason: standing,
    });
    return true;
  }
}

/** Without an id all of them; sessions are also of the key, or the identity, that they were made from. */
function isOf(principal: HostPrincipal | undefined, of: ChangedCredential, id: string | undefined): boolean {
  if (!principal || (of === 'session' && principal.sessionId === undefined)) return false;
  if (of === 'identity' && principal.issuer === undefined) return false;
  return id === undefined || id === (of === 'session' ? principal.sessionId : principal.id);
}

const planeOf = ({ protectedBy }: RequestContext): Plane => protectedBy?.plane ?? 'control';
