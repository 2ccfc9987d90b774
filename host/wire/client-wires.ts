import type { IncomingHttpHeaders } from 'node:http';
import type { ClientWire } from './client-wire.ts';
import { COMMON_WIRE } from './common-wire.ts';

/** Whether a request is of a wire that shares this path with others. */
export type SpeaksWire = (headers: IncomingHttpHeaders, path: string) => boolean;

/** A path and all below it that speak one wire. */
interface Claim {
  readonly path: string;
  readonly wire: ClientWire;
  readonly speaks: SpeaksWire | undefined;
}

/** Paths whose claims are remembered, and how long one may be. */
const MOST_PATHS = 256;
const MOST_CHARACTERS = 256;

const NO_HEADERS: IncomingHttpHeaders = Object.freeze({});

/** Which wire a request speaks, whether or not a route serves its path: the common one, unless another claims it. */
export class ClientWires {
  #claims: readonly Claim[] = [];
  /** The claims that a path lies within, by paths that were asked for; of those that clients invent only so many. */
  readonly #byPath = new Map<string, readonly Claim[]>();

  /** `path` and what lies below it speak this wire, but for paths that are claimed closer; with `speaks` only the requests that it knows; the first claim that knows one counts. */
  claim(path: string, wire: ClientWire, speaks?: SpeaksWire): void {
    if (this.#claims.some((claim) => claim.path === path && !claim.speaks && !speaks))
      throw new Error(`two wires claim ${path}`);
    this.#byPath.clear();
    this.#claims = [...this.#claims, { path, wire, speaks }].toSorted(
      (a, b) => b.path.length - a.path.length || Number(a.speaks === undefined) - Number(b.speaks === undefined),
    );
  }

  of(path: string, headers: IncomingHttpHeaders = NO_HEADERS): ClientWire {
    for (const { wire, speaks } of this.#byPath.get(path) ?? this.#claimsOf(path))
      if (!speaks || speaks(headers, path)) return wire;
    return COMMON_WIRE;
  }

  #claimsOf(path: string): readonly Claim[] {
    const claims = this.#claims.filter((claim) => isWithin(path, claim.path));
    if (path.length > MOST_CHARACTERS) return claims;
    if (this.#byPath.size >= MOST_PATHS) this.#byPath.clear();
    this.#byPath.set(path, claims);
    return claims;
  }
}

function isWithin(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}
