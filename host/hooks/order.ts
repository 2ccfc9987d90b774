/** Named places in the order of taps, by hook. They are used instead of `before`, which silently ignores an unknown name. */
export const ORDER_OF = {
  prepare: { tracing: 1, aliases: 10, ceilings: 20, admission: 30, keyAccess: 40 },
  /** Budgets are at 0. */
  charge: { broughtTags: -20, broughtRates: -10 },
  /** Plugins are at 0. */
  beforeRequest: { owners: -10 },
  route: {
    routeBegins: 1,
    keyTargets: 5,
    unpriced: 6,
    session: 7,
    strategy: 10,
    eligibility: 20,
    affinity: 25,
    health: 30,
    routeEnds: 90,
  },
  admit: { breaker: 10, limiter: 20, credentials: 30 },
  /** Routes are looked through in this order, so the busiest come first. */
  mount: { surfaces: 10, listings: 20, probes: 30, admin: 40, forwarding: 50, fallback: 100 },
} as const;

/** All of them: a name stands for one place, whatever its hook. */
export const ORDER = {
  ...ORDER_OF.prepare,
  ...ORDER_OF.charge,
  ...ORDER_OF.beforeRequest,
  ...ORDER_OF.route,
  ...ORDER_OF.admit,
  ...ORDER_OF.mount,
} as const;

/** Hooks whose places are those of another one. */
const SAME_AS: Readonly<Record<string, string>> = { upgrade: 'mount' };

/** The constant of `ORDER` for a place in a hook; `undefined` where there is none. */
export function nameOfPlace(hook: string, stage: number): string | undefined {
  const places: Readonly<Record<string, number>> =
    Object.entries(ORDER_OF).find(([name]) => name === (SAME_AS[hook] ?? hook))?.[1] ?? {};
  return Object.keys(places).find((name) => places[name] === stage);
}
