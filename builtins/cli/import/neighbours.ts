import type { Path } from '../../../host/config/problems.ts';

/** What is a variable or a plugin here, by a beginning of the path there: the format, the path, and what stands for it. */
const NEIGHBOURS: readonly (readonly [format: string, path: string, here: string])[] = [
  [
    'litellm',
    'general_settings.database_url',
    'database_url → API_KEY_STORE_BACKEND, CONFIG_STORE_BACKEND and REQUEST_LOG_STORE_BACKEND',
  ],
  [
    'litellm',
    'general_settings.maximum_spend_logs_retention_period',
    'maximum_spend_logs_retention_period → REQUEST_LOG_RETENTION',
  ],
  ['litellm', 'litellm_settings.cache', 'cache → the plugin response-cache'],
  ['litellm', 'litellm_settings.cache_params', 'cache_params → the plugin response-cache'],
  ['litellm', 'litellm_settings.success_callback', 'success_callback → observability.tracing'],
  ['litellm', 'litellm_settings.callbacks', 'callbacks → observability.tracing, or plugins'],
  ['litellm', 'guardrails', 'guardrails → plugins of the type guardrail'],
  ['litellm', 'mcp_servers', 'mcp_servers → mcp_servers'],
  ['portkey', 'cache', 'cache → the plugin response-cache'],
  ['portkey', 'input_guardrails', 'input_guardrails → plugins of the type guardrail'],
  ['portkey', 'output_guardrails', 'output_guardrails → plugins of the type guardrail'],
  ['bifrost', 'client.log_retention_days', 'log_retention_days → REQUEST_LOG_RETENTION'],
  ['bifrost', 'logs_store', 'logs_store → REQUEST_LOG_STORE_BACKEND'],
  ['bifrost', 'config_store', 'config_store → CONFIG_STORE_BACKEND'],
  ['bifrost', 'mcp', 'mcp.client_configs → mcp_servers'],
  ['bifrost', 'plugins', 'plugins → plugins'],
];

/** What stands here for a value that was not carried; `undefined` where nothing does. */
export function neighbourOf(format: string, path: Path): string | undefined {
  const text = path.join('.');
  return NEIGHBOURS.find(
    ([kind, beginning]) => kind === format && (text === beginning || text.startsWith(`${beginning}.`)),
  )?.[2];
}
