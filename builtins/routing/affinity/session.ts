import type { Affinity } from '../../../host/contract/index.ts';
import type { RouteSession } from '../../../host/pipeline/route-session.ts';
import type { LiveExchange } from '../../../host/pipeline/live-exchange.ts';
import type { Target } from '../../../host/pipeline/target.ts';
import { hasEarlierAnswer } from './opening.ts';
import { type Places, placeOf } from './places.ts';
import { digestOf, fraction, type Words, wordsOf } from './rendezvous.ts';
import type { SessionKey } from './session-key.ts';
import { isSame, type ServedPair } from './served-sessions.ts';
import type { SessionList, SessionRoute } from './session-lists.ts';

/** Another way to tell sessions apart needs another word here: it gives each another home. */
const SESSION = 'gw-affinity-1';

/** The session of one request, for the name whose list is ranked. */
export class Session implements RouteSession {
  readonly key: SessionKey;
  /** The name that is ranked: the model asked for after aliases, or a fallback. */
  readonly name: string;
  /** 16 hexadecimal digits. Sessions of two keys, or of two names, never have one digest. */
  readonly digest: string;
  readonly words: Words;
  readonly random: number;
  /** The first of its order, whatever state that is in; `undefined` before anything was ranked, or where nothing serves. */
  home: SessionRoute | undefined;
  /** Where it was served, and goes before its order. */
  override: (ServedPair & { readonly at: SessionRoute }) | undefined;
  readonly #exchange: LiveExchange;
  readonly #list: SessionList;
  readonly #places: Places;

  constructor(key: SessionKey, exchange: LiveExchange, list: SessionList, places: Places) {
    const name = nameRanked(exchange);
    this.key = key;
    this.name = name;
    this.digest = digestOf(SESSION, exchange.principal?.id ?? 'anonymous', name, key.source, key.key);
    this.words = wordsOf(this.digest);
    this.random = fraction(this.words.high, this.words.low);
    this.#exchange = exchange;
    this.#list = list;
    this.#places = places;
  }

  /** What it was called with, as it is remembered. */
  pairOf(target: Target, credential: string | undefined): ServedPair {
    const used = target.instance?.credentials.find(({ name }) => name === credential);
    return {
      route: this.#list.routes.get(target.routeKey)?.id ?? target.routeKey,
      place: used && placeOf(used),
    };
  }

  /** Its first choice by its order alone. Of what was not ranked, that is the target that is called. */
  homePair(called: Target): ServedPair {
    const target = this.home?.target ?? called;
    return { route: this.#idOf(target), place: this.homePlace(target) };
  }

  /** The place that it calls of a target, by its order alone. */
  homePlace(target: Target): string | undefined {
    const { instance } = target;
    return instance && this.#places.first(instance, target.upstreamModel(this.name), this.words)?.key;
  }

  resultOf(target: Target, credential: string | undefined): Affinity {
    const served = this.pairOf(target, credential);
    const isFirst =
      isSame(served, this.homePair(target)) || (this.override !== undefined && isSame(served, this.override));
    if (!isFirst) return 'moved';
    return hasEarlierAnswer(this.#exchange) ? 'followed' : 'new';
  }

  #idOf({ routeKey }: Target): string {
    return this.#list.routes.get(routeKey)?.id ?? routeKey;
  }
}

/** The name whose list is ranked now. */
export const nameRanked = ({ model, routing }: LiveExchange): string => routing.fallback ?? model;
