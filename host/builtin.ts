import type { Host } from './host.ts';
import type { HostHooks } from './host-hooks.ts';

export { ORDER } from './hooks/order.ts';

/** A feature that is neither provider, strategy nor plugin. It taps the host's hooks and does nothing else on `apply`. */
export interface BuiltinModule {
  readonly kind: 'builtin';
  readonly contract: 1;
  readonly name: string;
  apply(host: { readonly hooks: HostHooks<Host> }): void;
}

export function defineBuiltin(module: Omit<BuiltinModule, 'kind' | 'contract'>): BuiltinModule {
  return Object.freeze({ kind: 'builtin', contract: 1, ...module });
}
