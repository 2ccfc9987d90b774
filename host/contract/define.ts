import type { Authorize, ProviderModule } from './provider.ts';
import type { PluginModule } from './plugin.ts';
import type { StrategyModule } from './strategy.ts';

/** Generation of this contract. The host refuses modules that were made for another. */
export const CONTRACT = 1;

/** The contract with what was added since, as ranges count it: `"gw": { "contract": "^1.1" }` in the package.json of modules. */
export const CONTRACT_VERSION = '1.1';

/** A module without its stamps. `contract` states what it was written for, a number or a range; unless said, the kit it is built with. */
type Unstamped<M> = Omit<M, 'kind' | 'contract'> & { readonly contract?: number | string };

/** Stamps a provider. Defaults are not filled in: what is written is what the catalogue prints. */
export function defineProvider(module: Unstamped<ProviderModule>): ProviderModule {
  return Object.freeze({ kind: 'provider', contract: CONTRACT, ...module });
}

/** Stamps a plugin whose settings have type `S`; `Joi.object<S, true>` keeps schema and type in step. */
export function definePlugin<S extends object>(module: Unstamped<PluginModule<S>>): PluginModule<S> {
  return Object.freeze({ kind: 'plugin', contract: CONTRACT, ...module });
}

/** Stamps a strategy whose settings have type `S`. */
export function defineStrategy<S extends object>(module: Unstamped<StrategyModule<S>>): StrategyModule<S> {
  return Object.freeze({ kind: 'strategy', contract: CONTRACT, ...module });
}

/** `Authorization: Bearer` with the value of an environment variable. */
export function bearer(variable: string): Authorize {
  return (_request, credentials) => ({ authorization: `Bearer ${credentials[variable] ?? ''}` });
}

/** A header of its own with the value of an environment variable, and fixed headers beside it. */
export function headerKey(name: string, variable: string, fixed: Readonly<Record<string, string>> = {}): Authorize {
  return (_request, credentials) => ({ ...fixed, [name]: credentials[variable] ?? '' });
}
