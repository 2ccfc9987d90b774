import Joi from 'joi';

/** Context of one validation: which coercions the document's format allows. */
export interface SchemaContext {
  /** YAML only: the text a bare number was written in, for fields that want text. */
  readonly numberText?: (path: readonly (string | number)[]) => string | undefined;
}

const contextOf = (helpers: Joi.CustomHelpers): SchemaContext => (helpers.prefs.context ?? {}) as SchemaContext;

/** Text. In YAML a bare number in its place is its own text, in JSON it is a type mismatch. `null` is as omitted. */
const text = Joi.any().custom((value: unknown, helpers) => {
  if (typeof value === 'string') return value;
  const written = typeof value === 'number' ? contextOf(helpers).numberText?.(helpers.state.path ?? []) : undefined;
  return written ?? helpers.error('string.base');
}).empty(null);

const YAML_BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([['yes', true], ['on', true], ['no', false], ['off', false]]);

/** A boolean. In YAML `yes`, `on`, `no` and `off` count too. */
const flag = Joi.any().custom((value: unknown, helpers) => {
  if (typeof value === 'boolean') return value;
  const isYaml = contextOf(helpers).numberText !== undefined;
  const read = isYaml && typeof value === 'string' ? YAML_BOOLEANS.get(value.toLowerCase()) : undefined;
  return read ?? helpers.error('boolean.base');
}).empty(null);

const integer = Joi.number().integer().empty(null);
const decimal = Joi.number().empty(null);
const list = (item: Joi.Schema): Joi.ArraySchema => Joi.array().items(item).empty(null);
const block = (keys: Joi.SchemaMap): Joi.ObjectSchema => Joi.object(keys).empty(null);
const textMap = Joi.object().pattern(Joi.string().allow(''), Joi.any().when(Joi.valid(null), { then: Joi.any().empty(null).default(''), otherwise: text })).empty(null);
const freeMap = Joi.object().unknown(true);

const strategy = block({
  mode: text,
  settings: freeMap.empty(null),
  failover_on: list(text),
  failover_on_status_codes: list(integer),
  unpriced_strategy: text,
  conditions: list(block({ key: text, field: text, value: text, target_key: text })),
  content_conditions: list(block({ type: text, value: text, target_key: text })),
  ab_variants: list(block({ target_key: text, weight: decimal, label: text })),
});

const target = block({
  virtual_key: text.default(''),
  weight: decimal,
  models: list(text),
  model_map: textMap,
  retry: block({ attempts: integer, on_status_codes: list(integer), initial_backoff_ms: integer }),
  retry_on_status: list(integer),
  request_timeout: text,
  circuit_breaker: block({ failure_threshold: integer, success_threshold: integer, max_half_threshold: integer, timeout: text }),
  concurrency: block({ max_concurrency: integer, queue_size: integer }),
  settings: freeMap.empty(null),
});

const plugin = block({
  name: text.default(''),
  type: text,
  stage: text,
  enabled: flag.default(false),
  config: freeMap.allow(null).default(null),
});

const mcpServer = block({
  name: text,
  url: text,
  headers: textMap,
  command: text,
  args: list(text),
  env: textMap,
  allowed_tools: list(text),
  max_call_depth: integer,
  timeout_seconds: integer,
  required: flag,
});

const observability = block({
  tracing: block({
    enabled: flag,
    endpoint: text,
    protocol: text,
    service_name: text,
    sample_ratio: decimal,
    privacy_level: text,
    shutdown_grace: text,
    headers: textMap,
  }),
  exporters: list(block({ name: text, enabled: flag, config: freeMap.allow(null) })),
});

/** Every key a configuration may hold, by type alone; what values mean is left to the rules. */
export const configSchema = Joi.object({
  apiVersion: text.default('v1'),
  strategy: strategy.default({}),
  targets: list(target).default([]),
  max_request_bytes: integer,
  request_timeout: text,
  plugins: list(plugin).default([]),
  aliases: textMap.default({}),
  mcp_servers: list(mcpServer).default([]),
  observability: observability.default({}),
  compatibility: block({ on_unsupported_param: text }).default({}),
  batch_target: text,
  responses_target: text,
  responses: block({ bind_owner: flag }).default({}),
  files: block({ bind_owner: flag }).default({}),
  modules: list(text).default([]),
});

/** Description of what may stand at a path of the document; `undefined` where anything may. */
export function describedAt(schema: Joi.Description, path: readonly (string | number)[]): Joi.Description | undefined {
  let at: Joi.Description | undefined = schema;
  for (const part of path) {
    const items = at?.['items'] as Joi.Description[] | undefined;
    const keys = at?.['keys'] as Record<string, Joi.Description> | undefined;
    at = typeof part === 'number' ? items?.[0] : keys?.[part];
  }
  return at;
}

/** Keys allowed in a described object. */
export function keysOf(description: Joi.Description | undefined): readonly string[] {
  return Object.keys((description?.['keys'] as object | undefined) ?? {});
}
