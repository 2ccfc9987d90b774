import type { HostHooks } from './hooks.ts';

/** A feature that is neither provider, strategy nor plugin. It taps the host's hooks and does nothing else on `apply`. */
export interface BuiltinModule {
  readonly kind: 'builtin';
  readonly contract: 1;
  readonly name: string;
  apply(host: { readonly hooks: HostHooks }): void;
}

export function defineBuiltin(module: Omit<BuiltinModule, 'kind' | 'contract'>): BuiltinModule {
  return Object.freeze({ kind: 'builtin', contract: 1, ...module });
}

/** Named places in the order of taps. `before` would do silently the wrong thing for an unknown name. */
export const ORDER = {
  /** prepare */
  aliases: 10,
  ceilings: 20,
  admission: 30,
  /** route */
  strategy: 10,
  eligibility: 20,
  health: 30,
  /** admit */
  breaker: 10,
  limiter: 20,
  /** mount: routes are looked through in this order, so the busiest come first */
  surfaces: 10,
  listings: 20,
  probes: 30,
  fallback: 100,
} as const;
