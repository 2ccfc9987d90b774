/** The values of a label: any text, or one of a few. */
type LabelValues = 'any' | readonly string[];

/**
 * A row of the table: what a figure measures, and which labels each of its samples has. Rows are
 * data: a figure is counted by its name, wherever something happens.
 */
interface Figure {
  /** A gauge's value is computed when metrics are read; nothing counts it. */
  readonly kind: 'counter' | 'histogram' | 'gauge';
  /** What the gauges of several processes of one gateway become; that of its primary counts unless said. */
  readonly overProcesses?: 'sum' | 'largest';
  /** One sentence for operators, without a full stop. */
  readonly help: string;
  /** Labels by name. A figure of the gateway is never counted without one of them. */
  readonly labels: Readonly<Record<string, LabelValues>>;
  /** Upper bounds of a histogram, ascending, in the unit of its name. */
  readonly buckets?: readonly number[];
}

/** Most calls of tools end within ten seconds; whole requests may take longer. */
const TOOL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const REQUEST_SECONDS = [...TOOL_SECONDS, 30] as const;

/**
 * Every figure of the gateway: what may be counted, under which labels. See
 * docs/observability.md#figures; a test compares them. `provider` is the key of a target, `none`
 * without one, or `cache`; `model` is `unknown` for what no target lists; `account` is the path of
 * an account or a tag, and of a value of a pattern that of the pattern, because clients may choose
 * values. The dashboards and alerts of operators hang on names and labels, so renaming one is a
 * breaking change. Figures of modules do not stand here; they are made on first use, under any name
 * that does not begin with `gateway_` or `gw_`. Labels come from configurations
 * and from this table, and never from clients: a label that a client chooses would make as many
 * series as it likes. A gauge has no sample where there is nothing to say.
 */
export const FIGURES = {
  gateway_requests_total: {
    kind: 'counter',
    help: 'Requests that have ended, by outcome',
    labels: { provider: 'any', model: 'any', status: ['success', 'error', 'rejected'] },
  },
  gateway_request_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds from the arrival of a request to the end of its answer',
    labels: { provider: 'any', model: 'any' },
    buckets: REQUEST_SECONDS,
  },
  gateway_tokens_input_total: { kind: 'counter', help: 'Prompt tokens', labels: { provider: 'any', model: 'any' } },
  gateway_tokens_output_total: {
    kind: 'counter',
    help: 'Completion tokens',
    labels: { provider: 'any', model: 'any' },
  },
  gateway_request_cost_usd_total: {
    kind: 'counter',
    help: 'Cost of requests in US dollars, as far as their models are priced',
    labels: { provider: 'any', model: 'any' },
  },
  gateway_unpriced_requests_total: {
    kind: 'counter',
    help: 'Requests paid for in dollars whose model has no price',
    labels: { provider: 'any', model: 'any', action: ['refused', 'warned', 'allowed'] },
  },
  /** A request that is refused at the last of several turns counts too. */
  gateway_budget_rejections_total: {
    kind: 'counter',
    help: 'Requests that a budget refused, by whose it was; `budget_usd` of a key is one of its budgets',
    labels: { kind: ['key', 'session', 'account', 'tag'], unit: ['usd', 'tokens', 'requests'] },
  },
  /** Beside at most 1,000 accounts and tags there is `(other)`. */
  gateway_budget_overflow_total: {
    kind: 'counter',
    help: 'Requests that were served by another model beyond a budget, by the account or the tag that has it; empty of keys and sessions',
    labels: { account: 'any' },
  },
  /**
   * `window` is the rule of the budget as it stands in names of sums, such as `day@UTC+00:00`: see
   * docs/reference/budgets.md#what-is-kept.
   */
  gateway_budget_used_ratio: {
    kind: 'gauge',
    help: 'Share of a budget of an account or a tag that is spent in the window that runs, with what it is raised by',
    labels: { account: 'any', unit: ['usd', 'tokens', 'requests'], window: 'any' },
  },
  gateway_spend_rows_folded_total: {
    kind: 'counter',
    help: 'Rows of spend that lost their key and tags, because there were too many at once',
    labels: {},
  },
  gateway_group_requests_total: {
    kind: 'counter',
    help: 'Requests routed by a group of models, by the group that was asked for',
    labels: { group: 'any', result: ['ok', 'fallback', 'failed'] },
  },
  gateway_affinity_requests_total: {
    kind: 'counter',
    help: 'Answered requests of sessions that a strategy keeps together, by the group of models that answered',
    labels: { group: 'any', result: ['new', 'followed', 'moved'] },
  },
  gateway_cache_tokens_total: {
    kind: 'counter',
    help: "Prompt tokens that vendors' caches were read for or written with, where instances, groups or affinity are configured",
    labels: { provider: 'any', model: 'any', kind: ['read', 'write'] },
  },
  gateway_cache_saved_usd_total: {
    kind: 'counter',
    help: "US dollars that reading from vendors' caches saved",
    labels: { provider: 'any', model: 'any' },
  },
  gateway_cache_extra_usd_total: {
    kind: 'counter',
    help: "US dollars that writing to vendors' caches cost more than sending the same without them",
    labels: { provider: 'any', model: 'any' },
  },
  gateway_cost_source_total: {
    kind: 'counter',
    help: 'Requests with a cost, by what it was computed of',
    labels: { source: ['usage', 'estimated', 'reported'] },
  },
  gateway_price_differences_total: {
    kind: 'counter',
    help: 'Answers whose vendor reports another cost than the catalog makes of them',
    labels: { provider: 'any', model: 'any' },
  },
  gateway_provider_errors_total: {
    kind: 'counter',
    help: 'Targets that failed a request, by class of failure',
    labels: {
      provider: 'any',
      error_type: [
        'circuit_open',
        'backpressure',
        'client_canceled',
        'timeout',
        'plugin_error',
        'provider_error',
        'no_credential',
      ],
    },
  },
  gateway_credential_calls_total: {
    kind: 'counter',
    help: 'Calls of providers with a credential of a declared instance, by what their end said of it',
    labels: {
      provider: 'any',
      credential: 'any',
      result: ['ok', 'rate', 'billing', 'invalid_key', 'no_access', 'failed', 'ignored'],
    },
  },
  gateway_credential_state: {
    kind: 'gauge',
    overProcesses: 'largest',
    help: 'State of a credential of a declared instance: 0 ready, 1 resting for some model, 2 benched, 3 unresolved',
    labels: { provider: 'any', credential: 'any' },
  },
  gateway_credential_in_flight: {
    kind: 'gauge',
    overProcesses: 'sum',
    help: 'Calls in flight with a credential of a declared instance',
    labels: { provider: 'any', credential: 'any' },
  },
  gateway_upstream_repairs_total: {
    kind: 'counter',
    help: 'Requests that were sent once more, corrected, after the provider had refused them',
    labels: {
      provider: 'any',
      kind: ['to_responses', 'no_summary', 'no_sealed', 'effort', 'no_include', 'no_thoughts', 'late_system'],
      result: ['ok', 'failed'],
    },
  },
  gateway_provider_init_failures_total: {
    kind: 'counter',
    help: 'Providers that could not be set up at start',
    labels: { provider: 'any' },
  },
  gateway_secret_refreshes_total: {
    kind: 'counter',
    help: 'Looks at the secrets of a credential that found another value, or none any more',
    labels: { provider: 'any', credential: 'any', result: ['changed', 'failed'] },
  },
  gateway_circuit_breaker_state: {
    kind: 'gauge',
    overProcesses: 'largest',
    help: 'State of the circuit breaker of a target: 0 closed, 1 open, 2 half-open',
    labels: { provider: 'any' },
  },
  gateway_rate_limit_rejections_total: {
    kind: 'counter',
    help: 'Requests that a rate limit refused',
    labels: { key_type: ['ip', 'admin_session', 'plugin', 'account', 'identity'] },
  },
  gateway_denied_requests_total: {
    kind: 'counter',
    help: 'Requests without a credential that counts: none was sent, it is not known, its key has expired or was revoked, or the key store is away',
    labels: { reason: ['missing', 'invalid', 'expired', 'revoked', 'store'] },
  },
  gateway_refused_requests_total: {
    kind: 'counter',
    help: 'Requests of known credentials that were refused before a plugin saw them',
    labels: { code: 'any' },
  },
  gateway_credentials_ended_total: {
    kind: 'counter',
    help: 'Requests that were ended because their credential no longer stood',
    labels: { kind: ['unary', 'stream', 'tunnel'] },
  },
  /**
   * `listener` is `data` where one listener serves everything. Certificates of clients that were
   * refused count too.
   */
  gateway_tls_handshake_failures_total: {
    kind: 'counter',
    help: 'Handshakes of clients that failed, and connections that spoke no TLS',
    labels: { listener: ['data', 'admin'] },
  },
  /** Absent where the listener speaks plain HTTP. It moves when its files are replaced. */
  gateway_tls_not_after_seconds: {
    kind: 'gauge',
    help: 'When the certificate of a listener ends, in seconds since 1970',
    labels: { listener: ['data', 'admin'] },
  },
  /**
   * `issuer` is a name of the configuration, or `none` for a token that names no issuer of it. What
   * is kept of a token that was accepted is not checked again, and not counted. `result` is the first
   * thing that was wrong, in the order in which they are looked at; `unavailable` where the issuer
   * does not answer, so that nothing is known of the token. Clients see none of it: a token that is
   * not valid is answered as a key that is not known.
   */
  gateway_identity_verifications_total: {
    kind: 'counter',
    help: 'Tokens of issuers that were checked, by what came of it',
    labels: {
      issuer: 'any',
      kind: ['bearer', 'sign_in'],
      result: [
        'ok',
        'malformed',
        'algorithm',
        'issuer',
        'audience',
        'expired',
        'time',
        'key',
        'signature',
        'claims',
        'no_access',
        'blocked',
        'unavailable',
      ],
    },
  },
  /**
   * Absent until the keys were read for the first time. It grows while the issuer does not answer,
   * or while no token needs its keys.
   */
  gateway_identity_keys_age_seconds: {
    kind: 'gauge',
    help: 'Seconds since the keys of an issuer were read',
    labels: { issuer: 'any' },
  },
  gateway_ab_requests_total: {
    kind: 'counter',
    help: 'Requests of the ab-test strategy, by the label of their variant',
    labels: { variant: 'any' },
  },
  gateway_guardrail_verdicts_total: {
    kind: 'counter',
    help: 'Verdicts of guardrails, by what followed from them',
    labels: { plugin: 'any', stage: 'any', action: ['rejected', 'masked', 'observed', 'recorded'] },
  },
  gateway_mcp_server_init_failures_total: {
    kind: 'counter',
    help: 'Failed handshakes with MCP servers',
    labels: { server_name: 'any' },
  },
  gateway_mcp_server_up: {
    kind: 'gauge',
    help: 'Whether an MCP server is ready: 1, else 0',
    labels: { server_name: 'any' },
  },
  gw_mcp_tool_calls_total: {
    kind: 'counter',
    help: 'Calls of MCP tools',
    labels: { server_name: 'any', tool_name: 'any', status: ['ok', 'error'] },
  },
  gw_mcp_tool_call_duration_seconds: {
    kind: 'histogram',
    help: 'Seconds that calls of MCP tools took',
    labels: { server_name: 'any', tool_name: 'any' },
    buckets: TOOL_SECONDS,
  },
  gw_mcp_unknown_tool_calls_total: {
    kind: 'counter',
    help: 'Calls of tools that vanished before they could be called',
    labels: { tool_name: 'any' },
  },
  gateway_server_connections_current: {
    kind: 'gauge',
    overProcesses: 'sum',
    help: 'Open client connections, by state',
    labels: { state: ['active', 'idle'] },
  },
  gateway_store_connections: {
    kind: 'gauge',
    help: 'Connections of pools to databases, and how many wait for one',
    labels: { state: ['used', 'idle', 'waiting'] },
  },
  gateway_state_up: {
    kind: 'gauge',
    help: 'Whether the store of what replicas share answers: 1 or 0; absent where there is none',
    labels: { backend: ['redis'] },
  },
  gateway_worker_up: {
    kind: 'gauge',
    help: 'Whether a worker serves: 1, else 0; absent where one process does everything',
    labels: { worker: 'any' },
  },
  gateway_worker_restarts_total: {
    kind: 'counter',
    help: 'Workers that ended and were replaced, by why',
    labels: { reason: ['exit', 'signal', 'silent', 'replaced'] },
  },
  gateway_replicas: {
    kind: 'gauge',
    help: 'Replicas that share limits, as they were last counted; absent where they do not',
    labels: { state: ['live'] },
  },
  gateway_state_trips_total: {
    kind: 'counter',
    help: 'Questions to the store of what replicas share, by what they were for',
    labels: { kind: ['rates', 'slots'], result: ['ok', 'denied', 'late', 'failed'] },
  },
  gateway_server_connection_transitions_total: {
    kind: 'counter',
    help: 'Changes of state of client connections',
    labels: { state: ['new', 'active', 'idle', 'hijacked', 'closed', 'unknown'] },
  },
  gateway_hook_events_dropped_total: {
    kind: 'counter',
    help: 'Events of this process that were dropped because too many waited for their store',
    labels: { subject: 'any' },
  },
  gateway_observability_events_dropped_total: {
    kind: 'counter',
    help: 'Events that exporters lost because their queue was full',
    labels: { subject: 'any' },
  },
  gateway_catalog_loads_total: {
    kind: 'counter',
    help: 'Loads of the model catalog',
    labels: { source: ['remote', 'fallback'], result: ['success', 'error'] },
  },
} as const satisfies Readonly<Record<string, Figure>>;

type Table = typeof FIGURES;

/**
 * Name of a figure of the gateway's own table. Code of the host counts by this type, so that a
 * typing mistake in a name does not compile.
 */
export type FigureName = keyof Table;

/** Names of the figures of one kind. */
type OfKind<K extends Figure['kind']> = { [N in FigureName]: Table[N]['kind'] extends K ? N : never }[FigureName];
/** What `add` counts, and what `observe` takes samples of. */
export type CounterName = OfKind<'counter'>;
/**
 * Name of a distribution of the gateway's own table; its values are in the unit that the name
 * states.
 */
export type HistogramName = OfKind<'histogram'>;
/** What is read at each scrape, and never counted. */
export type GaugeName = OfKind<'gauge'>;

/**
 * The labels of one figure, all of them, with the values that the table allows. One that is left
 * out, one too many, or a value that the table does not list is an error of types.
 */
export type FigureLabels<N extends FigureName> = {
  readonly [L in keyof Table[N]['labels']]: Table[N]['labels'][L] extends readonly string[]
    ? Table[N]['labels'][L][number]
    : string;
};
