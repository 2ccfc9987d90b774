import type { configSchema } from './schema/config-schema.ts';
import type { TypeOf } from './schema/schema-fields.ts';

/**
 * One configuration as it is after decoding: shape checked, rules not yet. Keys and their types are those of the schema, and stand
 * nowhere else. Durations stay the text they were written in; `${VAR}` references stay for life.
 */
export type GatewayConfig = TypeOf<typeof configSchema>;

export type StrategyConfig = GatewayConfig['strategy'];
export type TargetConfig = GatewayConfig['targets'][number];
/** An entry of `models`. */
export type ModelGroupConfig = NonNullable<GatewayConfig['models']>[number];
export type RouteConfig = ModelGroupConfig['routes'][number];
export type PluginEntry = GatewayConfig['plugins'][number];
export type McpServerConfig = GatewayConfig['mcp_servers'][number];
/** One entry of `providers`. Secrets of the kind beside those that the schema lists are members too: `secretTexts`. */
export type ProviderConfig = NonNullable<GatewayConfig['providers']>[string];
/** One entry of `credentials` of an instance. */
export type CredentialConfig = NonNullable<ProviderConfig['credentials']>[number];
export type ObservabilityConfig = GatewayConfig['observability'];

export const DEFAULT_MAX_REQUEST_BYTES = 10 * 1024 * 1024;
