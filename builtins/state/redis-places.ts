import type { RedisClientType } from '@redis/client';
import type { PlaceAsk, PlacesHeld, PlacesTaken, Resource, SharedPlaces } from '../../host/state/shared-places.ts';
import { PLACES_SCRIPT, RENEW_SCRIPT } from './places-script.ts';
import { MEMBER_BEAT_MS, MEMBER_LEASE_MS } from './redis-limits.ts';
import { nameOf, rootOf, runScript } from './run-script.ts';

/** Milliseconds in which every process says again what it holds, after the server lost it. */
const SETTLE_MS = MEMBER_BEAT_MS + 1000;
/** Names that one step renews. */
const RENEWED_A_STEP = 500;
/** Places whose return the server may not have heard of. Those beyond end by themselves. */
const MOST_UNHEARD = 10_000;

export interface RedisPlacesDeps {
  readonly client: RedisClientType;
  readonly prefix: string;
  /** This process, among the gateways. */
  readonly id: string;
}

/**
 * Places on a server that speaks the protocol of Redis. Each is a name in a set, and holds for 15 seconds unless it is said again: those of a process that
 * is lost are free again by themselves.
 */
export class RedisPlaces implements SharedPlaces {
  readonly #deps: RedisPlacesDeps;
  readonly #root: string;
  /** Names that are held, by the key of their set. */
  readonly #held = new Map<string, Set<string>>();
  #unheard: { readonly key: string; readonly id: string }[] = [];
  #count = 0;

  constructor(deps: RedisPlacesDeps) {
    this.#deps = deps;
    this.#root = rootOf(deps.prefix);
  }

  async take({ of, wanted, isQueued }: PlaceAsk): Promise<PlacesTaken | undefined> {
    const offered = Array.from({ length: wanted }, () => ({ of, id: this.#newId() }));
    const keys = of.map((resource) => this.#keyOf(resource));
    const tables = isQueued ? keys.slice(0, 1).map((key) => `${key}:w`) : [];
    const args = [
      String(MEMBER_LEASE_MS),
      this.#deps.id,
      String(SETTLE_MS),
      String(of.length),
      ...of.map(({ most }) => String(most)),
      ...offered.map(({ id }) => id),
    ];
    try {
      const answer = await runScript(this.#deps.client, PLACES_SCRIPT, [`${this.#root}e`, ...keys, ...tables], args);
      const [taken = -1, refused = 0] = answer.map(Number);
      if (taken < 0) return undefined;
      const held = offered.slice(0, taken);
      for (const place of held) this.#note(place);
      return { held, refusedAt: taken < wanted ? Math.max(0, refused - 1) : undefined };
    } catch (error) {
      for (const { id } of offered) this.#doubt(keys, id);
      throw error;
    }
  }

  hold(of: readonly Resource[]): PlacesHeld {
    const place = { of, id: this.#newId() };
    this.#note(place);
    return place;
  }

  giveBack({ of, id }: PlacesHeld): void {
    const keys = of.map((resource) => this.#keyOf(resource));
    for (const key of keys) {
      const ids = this.#held.get(key);
      ids?.delete(id);
      if (ids?.size === 0) this.#held.delete(key);
      this.#deps.client.zRem(key, id).catch(() => this.#doubt([key], id));
    }
  }

  heldOf(resource: Resource): number {
    return this.#held.get(this.#keyOf(resource))?.size ?? 0;
  }

  /** Says again what this process holds, and what it holds no more. */
  async renew(): Promise<void> {
    const { client } = this.#deps;
    const unheard = this.#unheard;
    this.#unheard = [];
    const lease = String(MEMBER_LEASE_MS);
    const steps = this.#held.entries().flatMap(([key, ids]) => {
      const all = [...ids];
      const parts = Array.from({ length: Math.ceil(all.length / RENEWED_A_STEP) }, (_, at) =>
        all.slice(at * RENEWED_A_STEP, (at + 1) * RENEWED_A_STEP),
      );
      return parts.map((part) => runScript(client, RENEW_SCRIPT, [key], [lease, ...part]));
    });
    const returns = unheard.map(({ key, id }) => client.zRem(key, id).catch(() => this.#doubt([key], id)));
    await Promise.all([...steps, ...returns]);
  }

  /** All places are free. */
  async leave(): Promise<void> {
    await Promise.all(this.#held.entries().map(([key, ids]) => this.#deps.client.zRem(key, [...ids])));
    this.#held.clear();
  }

  #note({ of, id }: PlacesHeld): void {
    for (const resource of of) {
      const key = this.#keyOf(resource);
      const ids = this.#held.get(key);
      if (ids) ids.add(id);
      else this.#held.set(key, new Set([id]));
    }
  }

  #doubt(keys: readonly string[], id: string): void {
    if (this.#unheard.length < MOST_UNHEARD) for (const key of keys) this.#unheard.push({ key, id });
  }

  #keyOf({ group, key }: Resource): string {
    return `${this.#root}c:${nameOf(group, key)}`;
  }

  #newId(): string {
    this.#count += 1;
    return `${this.#deps.id}:${this.#count.toString(36)}`;
  }
}
