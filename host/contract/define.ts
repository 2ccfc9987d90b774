import type { Authorize } from './provider/connection.ts';
import type { ProviderModule } from './provider/provider.ts';
import type { PluginModule } from './plugin.ts';
import type { StrategyModule } from './strategy.ts';

/**
 * Generation of this contract. The host refuses modules that were made for another. A module that
 * states no `contract` is taken as written for this one. It changes only when modules must be
 * rewritten.
 */
export const CONTRACT = 1;

/**
 * The contract with what was added since, as ranges count it: `"gw": { "contract": "^1.1" }` in the
 * package.json of modules. The number behind the point grows when something is added that a module
 * may need, and modules written for an earlier one run unchanged.
 */
export const CONTRACT_VERSION = '1.2';

/**
 * A module without its stamps. `contract` states what it was written for, a number or a range;
 * unless said, the kit it is built with.
 */
type Unstamped<M> = Omit<M, 'kind' | 'contract'> & { readonly contract?: number | string };

/**
 * Stamps a provider with its kind and the contract that it was written for, and freezes it.
 * Defaults are not filled in: what is written is what the catalogue prints. It throws nothing: the
 * host checks the fields when it loads the file.
 *
 * @param module data, and the functions that translate. `contract` says what it was written for;
 * unless said, this kit.
 * @example
 * ```ts
 * import { bearer, defineProvider } from 'gw/contract';
 * import { commonTranslators } from 'gw/common-wire';
 *
 * // Acme has another name for the seed, and takes no bias.
 * const params = { seed: { rename: 'random_seed' }, logit_bias: 'unsupported' } as const;
 *
 * export default defineProvider({
 *   name: 'acme',
 *   wire: 'common',
 *   connection: {
 *     env: ['ACME_API_KEY'],
 *     baseUrl: 'https://api.acme.example/v1',
 *     authorize: bearer('ACME_API_KEY'),
 *   },
 *   params,
 *   translators: commonTranslators(['chat', 'embeddings'], params),
 * });
 * ```
 */
export function defineProvider(module: Unstamped<ProviderModule>): ProviderModule {
  return Object.freeze({ kind: 'provider', contract: CONTRACT, ...module });
}

/**
 * Stamps a plugin with its kind and the contract that it was written for, and freezes it. Its
 * settings have type `S`; `Joi.object<S, true>` keeps schema and type in step. It throws nothing:
 * the host checks the fields when it loads the file.
 *
 * @param module data, and `create`, which the host calls once for each distinct settings of a
 * configuration.
 * @example
 * ```ts
 * import Joi from 'joi';
 * import { definePlugin, reject } from 'gw/contract';
 *
 * interface Settings {
 *   readonly per_minute: number;
 * }
 *
 * // One bucket for each credential; `deps.state` shares it between replicas.
 * export default definePlugin<Settings>({
 *   name: 'slow-down',
 *   type: 'ratelimit',
 *   summary: 'Limits the requests of a credential',
 *   stages: ['before_request'],
 *   settings: Joi.object<Settings, true>({ per_minute: Joi.number().integer().positive().required() }),
 *   create: ({ per_minute }, { identity, state }) => ({
 *     async before_request({ principal }) {
 *       if (!principal) return undefined;
 *       const bucket = { ratePerSecond: per_minute / 60, burst: per_minute, group: identity };
 *       const { taken, retryAfterMs } = await state.take(`${identity} ${principal.id}`, bucket, 1);
 *       return taken ? undefined : reject(`more than ${per_minute} requests a minute`, { retryAfterMs });
 *     },
 *   }),
 * });
 * ```
 */
export function definePlugin<S extends object>(module: Unstamped<PluginModule<S>>): PluginModule<S> {
  return Object.freeze({ kind: 'plugin', contract: CONTRACT, ...module });
}

/**
 * Stamps a strategy with its kind and the contract that it was written for, and freezes it. Its
 * settings have type `S`. It throws nothing: the host checks the fields when it loads the file.
 *
 * @param module data, and `create`, which the host calls once for each applied configuration.
 * @example
 * ```ts
 * import Joi from 'joi';
 * import { defineStrategy } from 'gw/contract';
 *
 * // The cheapest prompt first; a target without a price comes last.
 * export default defineStrategy({
 *   name: 'cheapest-prompt',
 *   summary: 'Tries the target with the cheapest prompt tokens first',
 *   advances: true,
 *   settings: Joi.object({}),
 *   create: (_settings, { price }) => (targets, { upstreamModel }) => {
 *     const input = (key: string): number => price(key, upstreamModel(key))?.input ?? Infinity;
 *     return targets.toSorted((a, b) => (input(a.virtualKey) < input(b.virtualKey) ? -1 : 1));
 *   },
 * });
 * ```
 */
export function defineStrategy<S extends object>(module: Unstamped<StrategyModule<S>>): StrategyModule<S> {
  return Object.freeze({ kind: 'strategy', contract: CONTRACT, ...module });
}

/**
 * `Authorization: Bearer` with the value of an environment variable. It is made for every call. A
 * variable that is not set gives an empty token, which the service refuses; name it in `env`, and
 * the provider is not registered without it.
 *
 * @param variable one of those that the connection names in `env` or `optionalEnv`; any other
 * refuses the module (`MV07`).
 * @example
 * ```ts
 * import { bearer, type Connection } from 'gw/contract';
 *
 * export const connection: Connection = {
 *   env: ['ACME_API_KEY'],
 *   baseUrl: 'https://api.acme.example/v1',
 *   authorize: bearer('ACME_API_KEY'),
 * };
 * ```
 */
export function bearer(variable: string): Authorize {
  return (_request, credentials) => ({ authorization: `Bearer ${credentials[variable] ?? ''}` });
}

/**
 * A header of its own with the value of an environment variable, and fixed headers beside it.
 * Nothing is put in front of the value. A variable that is not set gives an empty header.
 *
 * @param name the header, in lower case, such as `x-api-key`.
 * @param variable one of those that the connection names in `env` or `optionalEnv`.
 * @param fixed headers that go along with every call, such as the version of an API. The credential
 * counts where both have one name.
 * @example
 * ```ts
 * import { headerKey } from 'gw/contract';
 *
 * export const authorize = headerKey('x-api-key', 'ACME_API_KEY', { 'acme-version': '2026-01-12' });
 * ```
 */
export function headerKey(name: string, variable: string, fixed: Readonly<Record<string, string>> = {}): Authorize {
  return (_request, credentials) => ({ ...fixed, [name]: credentials[variable] ?? '' });
}
