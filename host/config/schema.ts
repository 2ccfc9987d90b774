import Joi from 'joi';

/** Context of one validation: which coercions the document's format allows. */
export interface SchemaContext {
  /** YAML only: the text a bare number was written in, for fields that want text. */
  readonly numberText?: (path: readonly (string | number)[]) => string | undefined;
}

/** How a field is shown where a configuration is shown (docs/reference/admin.md#how-a-configuration-is-shown). Without it a field is shown by its type, and its texts lose what may be secret. */
export interface Showing {
  /**
   * `name`: no address of a person, whatever stands in it (model ids, aliases, patterns). `withheld`: neither keys nor values.
   * `arguments`: of a command. `plugin settings`, `strategy settings`: those that the module of the same block declares.
   */
  readonly as?: 'name' | 'withheld' | 'arguments' | 'plugin settings' | 'strategy settings';
  /** Shown in its place when it is absent. */
  readonly always?: string | null | readonly never[] | object;
  /** `false` and 0 say something else here than an absent key. */
  readonly isKept?: boolean;
}

const shown = (showing: Showing): { readonly showing: Showing } => ({ showing });

const contextOf = (helpers: Joi.CustomHelpers): SchemaContext => (helpers.prefs.context ?? {}) as SchemaContext;

/** Text. In YAML a bare number in its place is its own text, in JSON it is a type mismatch. `null` is as omitted. */
const text = Joi.any().custom(readText).empty(null);

function readText(value: unknown, helpers: Joi.CustomHelpers): unknown {
  if (typeof value === 'string') return value;
  const written = typeof value === 'number' ? contextOf(helpers).numberText?.(helpers.state.path ?? []) : undefined;
  return written ?? helpers.error('string.base');
}

const YAML_BOOLEANS: ReadonlyMap<unknown, boolean> = new Map([
  ['yes', true],
  ['on', true],
  ['no', false],
  ['off', false],
]);

/** A boolean. In YAML `yes`, `on`, `no` and `off` count too. */
const flag = Joi.any()
  .custom((value: unknown, helpers) => {
    if (typeof value === 'boolean') return value;
    const isYaml = contextOf(helpers).numberText !== undefined;
    const read = isYaml && typeof value === 'string' ? YAML_BOOLEANS.get(value.toLowerCase()) : undefined;
    return read ?? helpers.error('boolean.base');
  })
  .empty(null);

const integer = Joi.number().integer().empty(null);
const decimal = Joi.number().empty(null);
const list = (item: Joi.Schema): Joi.ArraySchema => Joi.array().items(item).empty(null);
const block = (keys: Joi.SchemaMap): Joi.ObjectSchema => Joi.object(keys).empty(null);
/** In a map of texts `null` is the empty text: its key counts. */
const textMap = Joi.object()
  .pattern(
    Joi.string().allow(''),
    Joi.any().custom((value: unknown, helpers) => (value === null ? '' : readText(value, helpers))),
  )
  .empty(null);
const freeMap = Joi.object().unknown(true);

const modelId = text.meta(shown({ as: 'name' }));
const pattern = text.meta(shown({ as: 'name' }));
const withheld = shown({ as: 'withheld' });

const strategy = block({
  mode: text.meta(shown({ always: '' })),
  settings: freeMap.empty(null).meta(shown({ as: 'strategy settings' })),
  failover_on: list(text),
  failover_on_status_codes: list(integer),
  unpriced_strategy: text,
  conditions: list(block({ key: text, field: text, value: modelId, target_key: text })),
  content_conditions: list(block({ type: text, value: pattern, target_key: text })),
  ab_variants: list(block({ target_key: text, weight: decimal, label: text })),
});

const target = block({
  virtual_key: text.default(''),
  weight: decimal,
  models: list(modelId),
  model_map: textMap.meta(shown({ as: 'name' })),
  retry: block({ attempts: integer, on_status_codes: list(integer), initial_backoff_ms: integer }),
  retry_on_status: list(integer),
  request_timeout: text,
  responses: text,
  circuit_breaker: block({
    failure_threshold: integer,
    success_threshold: integer,
    max_half_threshold: integer,
    timeout: text,
  }),
  concurrency: block({ max_concurrency: integer, queue_size: integer }),
  settings: freeMap.empty(null),
});

const plugin = block({
  name: text.default(''),
  type: text,
  stage: text,
  enabled: flag.default(false).meta(shown({ isKept: true })),
  config: freeMap
    .allow(null)
    .default(null)
    .meta(shown({ as: 'plugin settings', always: null })),
});

const mcpServer = block({
  name: text,
  url: text,
  headers: textMap.meta(withheld),
  command: text,
  args: list(text).meta(shown({ as: 'arguments' })),
  env: textMap.meta(withheld),
  allowed_tools: list(text),
  max_call_depth: integer,
  timeout_seconds: integer,
  max_result_bytes: integer,
  required: flag,
});

const observability = block({
  tracing: block({
    enabled: flag.meta(shown({ isKept: true })),
    endpoint: text,
    protocol: text,
    service_name: text,
    sample_ratio: decimal.meta(shown({ isKept: true })),
    privacy_level: text,
    shutdown_grace: text,
    headers: textMap.meta(withheld),
  }).meta(shown({ always: {} })),
  exporters: list(block({ name: text, enabled: flag, config: freeMap.allow(null).meta(withheld) })),
});

/** Every key a configuration may hold, by type alone; what values mean is left to the rules. */
export const configSchema = Joi.object({
  apiVersion: text.default('v1'),
  strategy: strategy.default({}).meta(shown({ always: {} })),
  targets: list(target)
    .default([])
    .meta(shown({ always: [] })),
  max_request_bytes: integer,
  request_timeout: text,
  plugins: list(plugin).default([]),
  aliases: textMap.default({}).meta(shown({ as: 'name' })),
  mcp_servers: list(mcpServer).default([]),
  mcp: block({ stream: flag }).default({}),
  observability: observability.default({}).meta(shown({ always: {} })),
  compatibility: block({ on_unsupported_param: text })
    .default({})
    .meta(shown({ always: {} })),
  batch_target: text,
  responses_target: text,
  responses: block({ bind_owner: flag, translate: text }).default({}),
  files: block({ bind_owner: flag }).default({}),
  money: block({ unpriced: text }).default({}),
  modules: list(text).default([]),
});

/** How the field of a description is shown. */
export function showingOf(description: Joi.Description | undefined): Showing {
  const metas = (description?.['metas'] ?? []) as readonly { readonly showing?: Showing }[];
  return metas.find(({ showing }) => showing)?.showing ?? {};
}

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
