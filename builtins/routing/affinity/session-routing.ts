import type { RouteTarget } from '../../../host/contract/index.ts';
import type { Attempt } from '../../../host/pipeline/attempts/attempt.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Credential, ProviderInstance } from '../../../host/upstream/instance.ts';
import type { Places } from './places.ts';
import { rendezvous } from './rendezvous.ts';
import { isSame, type ServedPair, type ServedSessions } from './served-sessions.ts';
import { Session } from './session.ts';
import { sessionKeyOf } from './session-key.ts';
import type { SessionList, SessionLists } from './session-lists.ts';

export interface SessionRoutingParts {
  readonly lists: SessionLists;
  readonly places: Places;
  readonly served: ServedSessions;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

/** Orders what may serve a request by its session. Only orders: what strategy, eligibility or key have left out stays out. */
export class SessionRouting {
  readonly #parts: SessionRoutingParts;

  constructor(parts: SessionRoutingParts) {
    this.#parts = parts;
  }

  /** A list is about to be ranked: finds the session that its request has there. */
  begin(exchange: LiveExchange): Session | undefined {
    const { routing } = exchange;
    const before = sessionOf(exchange);
    if (routing.fallback === undefined) routing.leftSession = undefined;
    else if (before?.home) routing.leftSession = before;
    const list = this.#parts.lists.of(exchange);
    const key = list && (before?.key ?? sessionKeyOf(exchange));
    const session = key && new Session(key, exchange, list, this.#parts.places);
    routing.session = session ?? 'none';
    return session;
  }

  /** The session's order of what eligibility has left. */
  order(ranked: readonly RouteTarget[], exchange: LiveExchange): readonly RouteTarget[] {
    const session = sessionOf(exchange);
    const list = session && this.#parts.lists.of(exchange);
    if (!list) return ranked;
    const own = list.order === 'spread' ? spread(ranked, list, session) : ranked;
    const [first] = own;
    session.home = first && list.routes.get(first.virtualKey);
    const override = this.#overrideOf(session, list, exchange);
    const at = override === undefined ? -1 : own.findIndex((each) => list.routes.get(each.virtualKey) === override.at);
    session.override = at < 0 ? undefined : override;
    const order = at <= 0 ? own : [own[at] as RouteTarget, ...own.slice(0, at), ...own.slice(at + 1)];
    const [goes] = order;
    if (goes && goes !== ranked[0]) exchange.routing.heard?.target?.(goes.virtualKey, 'its session goes there');
    return order;
  }

  /** Credentials of an instance in the order of the session, which an override goes before. */
  credentials(
    exchange: LiveExchange,
    instance: ProviderInstance,
    upstreamModel: string,
  ): readonly Credential[] | undefined {
    const session = exchange.routing.session === undefined ? this.begin(exchange) : sessionOf(exchange);
    if (!session) return undefined;
    const places = this.#parts.places.ordered(instance, upstreamModel, session.words);
    const { override } = session;
    const isThere =
      override?.at.target.instance === instance && override.at.target.upstreamModel(session.name) === upstreamModel;
    const at = isThere ? places.findIndex(({ key }) => key === override.place) : -1;
    const order = at <= 0 ? places : [...places.splice(at, 1), ...places];
    return order.flatMap(({ credentials }) => credentials);
  }

  /** Remembers where a session was served, as far as its order does not say so, and forgets what has failed. */
  settled(attempt: Attempt): void {
    const { exchange, target, credential, error, outcome } = attempt;
    const session = sessionOf(exchange);
    const list = session && this.#parts.lists.of(exchange);
    if (!list || exchange.isCounting) return;
    const pair = session.pairOf(target, credential?.name);
    if (outcome === 'success' && !error) this.#served(session, list, pair, session.homePair(target));
    else if (isOfPair(attempt)) this.#failed(session, list, pair);
  }

  #served({ digest }: Session, { order }: SessionList, pair: ServedPair, home: ServedPair): void {
    const { served, monotonic } = this.#parts;
    if (order !== undefined && isSame(pair, home)) served.forget(digest);
    else served.keep(digest, pair, order, monotonic());
  }

  #failed({ digest }: Session, { order }: SessionList, pair: ServedPair): void {
    const { served, monotonic } = this.#parts;
    const known = served.find(digest, order, monotonic());
    if (known && isSame(known, pair)) served.forget(digest);
  }

  #overrideOf(session: Session, list: SessionList, { routing }: LiveExchange): Session['override'] {
    const { served, places, monotonic } = this.#parts;
    const known = served.find(session.digest, list.order, monotonic());
    if (!known) return undefined;
    const at = list.routes.values().find(({ id }) => id === known.route);
    const isLeft =
      at !== undefined &&
      !(list.order === 'spread' && at.target.weight <= 0) &&
      places.isOpen(at.target.instance, known.place, at.target.upstreamModel(session.name));
    if (isLeft) return { ...known, at };
    if (!routing.explaining) served.forget(session.digest);
    return undefined;
  }
}

/** The session of a request, for the list that is ranked or tried. Only this builtin makes sessions. */
export function sessionOf({ routing: { session } }: LiveExchange): Session | undefined {
  return session instanceof Session ? session : undefined;
}

/** By rendezvous over those with a weight; the others keep their place behind. */
function spread(ranked: readonly RouteTarget[], list: SessionList, { words }: Session): readonly RouteTarget[] {
  const first = rendezvous(words, ranked, ({ virtualKey, weight }) => ({
    words: list.routes.get(virtualKey)?.words ?? NO_WORDS,
    weight,
  }));
  return first.length === ranked.length ? first : [...first, ...ranked.filter(({ weight }) => weight <= 0)];
}

const NO_WORDS = Object.freeze({ high: 0, low: 0 });

/** Statuses that say something of the credential or its account, or that it is called too often. */
const OF_CREDENTIAL: ReadonlySet<number | undefined> = new Set([401, 402, 403, 429]);

/** Whether the failure of a call is one of what was called, and not of the request. */
function isOfPair({ outcome, error, visit }: Attempt): boolean {
  if (outcome === 'failure') return true;
  const fault = error?.fault;
  if (!fault || fault.ofRequest === true) return false;
  return OF_CREDENTIAL.has(fault.status) || visit?.class !== undefined;
}
