import type { GatewayError } from '../contract/index.ts';
import { stopReading } from './body/read-body.ts';
import type { RequestContext } from './context.ts';

/**
 * The requests that run under a credential which may end. They stand in an array, and each knows its place: a `Set` of what comes and goes with
 * every request costs a third of the request (`generation/slot.ts`).
 */
export class RunningRequests {
  /** Called when there is one again. */
  onFirst: (() => void) | undefined;
  /** Called with one that was let in by what may be over already: its credential changed while it was looked up. */
  onDoubt: ((context: RequestContext) => void) | undefined;
  readonly #contexts: RequestContext[] = [];

  get size(): number {
    return this.#contexts.length;
  }

  /** `digest` is that of the credential. A request whose connection has closed meanwhile is not kept. */
  add(context: RequestContext, digest: string): void {
    if (context.isOver || context.place >= 0) return;
    context.digest = digest;
    context.place = this.#contexts.length;
    this.#contexts.push(context);
    if (context.place === 0) this.onFirst?.();
  }

  /** The request is over: its answer has left, or its connection is closed. */
  remove(context: RequestContext): void {
    context.isOver = true;
    const last = this.#contexts.at(-1);
    if (context.place < 0 || !last) return;
    this.#contexts[context.place] = last;
    last.place = context.place;
    context.place = -1;
    this.#contexts.pop();
  }

  /** Those that fit, in an array of their own. */
  filter(fits: (context: RequestContext) => boolean): RequestContext[] {
    return this.#contexts.filter(fits);
  }
}

/**
 * Stops a request, once: what serves it hears why, or what reads its body; an exchange that is about to begin finds `ended`. False for one that
 * is over, and for a change by the admin API, which is answered: it may have ended its own credential.
 */
export function endRequest(context: RequestContext, cause: GatewayError): boolean {
  if (context.isOver || context.ended) return false;
  if (context.onEnded) context.onEnded(cause);
  else if (!stopReading(context.request, cause) && !context.protectedBy?.isLimited) return false;
  context.ended = cause;
  return true;
}
