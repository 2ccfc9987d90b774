/** Named places in the order of taps. They are used instead of `before`, which silently ignores an unknown name. */
export const ORDER = {
  /** prepare */
  tracing: 1,
  aliases: 10,
  ceilings: 20,
  admission: 30,
  keyAccess: 40,
  /** beforeRequest: plugins are at 0 */
  owners: -10,
  /** route */
  routeBegins: 1,
  keyTargets: 5,
  unpriced: 6,
  strategy: 10,
  eligibility: 20,
  health: 30,
  routeEnds: 90,
  /** admit */
  breaker: 10,
  limiter: 20,
  /** mount: routes are looked through in this order, so the busiest come first */
  surfaces: 10,
  listings: 20,
  probes: 30,
  admin: 40,
  forwarding: 50,
  fallback: 100,
} as const;
