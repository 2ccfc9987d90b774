import type { ClientWire } from './client-wire.ts';
import { COMMON_WIRE } from './common-wire.ts';

/** A path and all below it that speak one wire. */
interface Claim {
  readonly path: string;
  readonly wire: ClientWire;
}

/** Which wire a path speaks, whether or not a route serves it: the common one, unless another claims it. */
export class ClientWires {
  #claims: readonly Claim[] = [];

  /** `path` and what lies below it speak this wire, but for paths that are claimed closer. */
  claim(path: string, wire: ClientWire): void {
    if (this.#claims.some((claim) => claim.path === path)) throw new Error(`two wires claim ${path}`);
    this.#claims = [...this.#claims, { path, wire }].toSorted((a, b) => b.path.length - a.path.length);
  }

  of(path: string): ClientWire {
    for (const claim of this.#claims) if (isWithin(path, claim.path)) return claim.wire;
    return COMMON_WIRE;
  }
}

function isWithin(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/');
}
