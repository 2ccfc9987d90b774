// Made of builtins/openapi/schemas.ts and host/common/key-members.ts by "npm run dashboard-types".

export type Key = {
  /** It never changes. */
  readonly id: string;
  /** The whole value right after it was made, else its beginning. */
  readonly key: string;
  /** What the key is called. */
  readonly name: string;
  /** What the key may do. */
  readonly scopes: readonly ('admin' | 'read_only')[];
  /** When it was made. */
  readonly created_at: string;
  /** Requests that the key itself authenticated. */
  readonly usage_count: number;
  /** False once it is revoked. */
  readonly active: boolean;
  /** When it was revoked. */
  readonly revoked_at?: string;
  /** The key counts up to this moment. */
  readonly expires_at?: string;
  /** When its value was last replaced. */
  readonly rotated_at?: string;
  /** When a request last came with it. */
  readonly last_used_at?: string;
  /** `inference`: the key may call models, and nothing else; left out for all others. Written it may be `full` too. */
  readonly access?: string;
  /** Until when the value before the last rotation works; left out when there is none that does. */
  readonly previous_expires_at?: string;
  /** Ids of models, aliases resolved, that the key may ask for; any without it. */
  readonly models?: readonly string[];
  /** Virtual keys of the targets that may serve the key; any without it. */
  readonly providers?: readonly string[];
  /** Words of the operator's choice, for show. */
  readonly tags?: readonly string[];
  /** Names of tools, or <server>/*, that the key may use; all without it. */
  readonly mcp_tools?: readonly string[];
  /** Requests in a minute. */
  readonly rpm?: number;
  /** Tokens in a minute. */
  readonly tpm?: number;
  /** US dollars that the key may spend. */
  readonly budget_usd?: number;
  /** What the key may spend in windows that begin again: US dollars, tokens or requests. */
  readonly budgets?: readonly {
    readonly usd?: number;
    readonly tokens?: number;
    readonly requests?: number;
    readonly every?: string;
    readonly at?: string;
    readonly on?: string | number;
    readonly timezone?: string;
    readonly from?: string;
    readonly reserve_tokens?: number;
    readonly warn?: readonly number[];
    readonly overrun?: 'one' | 'none';
    readonly over?: {
      readonly use: string;
      readonly more: number;
    };
    readonly models?: readonly string[];
  }[];
  /** Path of the account that the key belongs to: what binds it and those above it binds the key. */
  readonly account?: string;
  /** Requests in flight. */
  readonly max_parallel?: number;
  /** What becomes of requests whose model has no price. */
  readonly unpriced?: string;
  /** Refuses every request of models. */
  readonly blocked?: boolean;
  /** Models that the key may ask for, beside `models`: names, each exact or a beginning and a star. */
  readonly model_rules?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** Virtual keys of the targets that may serve the key, beside `providers`. */
  readonly provider_rules?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** Budgets that each session of the key has for itself. */
  readonly session?: {
    readonly budgets: readonly {
      readonly usd?: number;
      readonly tokens?: number;
      readonly requests?: number;
      readonly every?: string;
      readonly at?: string;
      readonly on?: string | number;
      readonly timezone?: string;
      readonly from?: string;
      readonly reserve_tokens?: number;
      readonly warn?: readonly number[];
      readonly overrun?: 'one' | 'none';
      readonly over?: {
        readonly use: string;
        readonly more: number;
      };
      readonly models?: readonly string[];
    }[];
  };
  /** What brought it from another gateway: `litellm:` and the id of the import. */
  readonly origin?: string;
};

export type Keys = readonly Key[];

export type Account = {
  readonly id: string;
  readonly path: string;
  readonly origin: 'declared' | 'stored' | 'implied';
  readonly keys: number;
  readonly children: number;
  readonly version: number;
  readonly raises: readonly Raise[];
  /** What people call it. */
  readonly title?: string;
  /** Refuses every request of the keys below, or with the tag. */
  readonly blocked?: boolean;
  /** What may be spent in windows that begin again: US dollars, tokens or requests. */
  readonly budgets?: readonly {
    readonly state: {
      readonly name: string;
      readonly limit: number;
      readonly raised: number;
      readonly spent: number;
      readonly reserved: number;
      readonly remaining: number;
      readonly begins_at?: string;
      readonly ends_at?: string;
    } | null;
    readonly usd?: number;
    readonly tokens?: number;
    readonly requests?: number;
    readonly every?: string;
    readonly at?: string;
    readonly on?: string | number;
    readonly timezone?: string;
    readonly from?: string;
    readonly reserve_tokens?: number;
    readonly warn?: readonly number[];
    readonly overrun?: 'one' | 'none';
    readonly over?: {
      readonly use: string;
      readonly more: number;
    };
    readonly models?: readonly string[];
  }[];
  /** Requests in a minute, of all keys together. */
  readonly rpm?: number;
  /** Tokens in a minute, of all keys together. */
  readonly tpm?: number;
  /** Requests in flight, of all keys together. */
  readonly max_parallel?: number;
  /** Models that may be asked for, aliases resolved. */
  readonly models?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** Virtual keys of targets that may serve. */
  readonly providers?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** What becomes of requests whose model has no price. */
  readonly unpriced?: string;
  /** Names of tags that every request must carry. */
  readonly required_tags?: readonly string[];
  /** Budgets that each session of each key has for itself. */
  readonly session?: Readonly<Record<string, unknown>>;
  /** What each account directly below has where it has none of its own. */
  readonly child_default?: Readonly<Record<string, unknown>>;
  /** Whether keys bring the tag, requests, or both; `key` unless said. */
  readonly brought_by?: string;
  readonly inherited?: readonly string[];
  readonly import_id?: string;
  readonly imported_version?: number;
  readonly created_at?: string;
  readonly updated_at?: string;
};

export type Raise = {
  readonly id: string;
  readonly unit: 'usd' | 'tokens' | 'requests';
  readonly amount: number;
  readonly from: string;
  readonly until: string;
  readonly actor: string;
  readonly created_at: string;
  readonly every?: string;
  readonly note?: string;
};

export type Import = {
  readonly id: string;
};

export type Adoption = {
  readonly adopted?: number;
  readonly updated?: number;
  readonly kept?: number;
  readonly conflicts?: readonly number[];
  readonly missing?: readonly number[];
  readonly looser?: readonly {
    readonly index: number;
    readonly members: readonly string[];
  }[];
  readonly opening_micro_usd?: number;
  readonly spent_micro_usd?: number;
};

export type ImportUndone = {
  readonly removed: {
    readonly keys: number;
    readonly accounts: number;
  };
  readonly kept: readonly {
    readonly id: string;
    readonly reason: string;
  }[];
};

export type Accounts = {
  readonly data: readonly Account[];
  readonly summary: {
    readonly total: number;
    readonly returned: number;
  };
  readonly filters: {
    readonly limit: number;
    readonly offset: number;
    readonly path?: string;
    readonly under?: string;
    readonly depth?: number;
    readonly q?: string;
    readonly origin?: string;
  };
};

export type UsedKey = {
  /** It never changes. */
  readonly id: string;
  /** The whole value right after it was made, else its beginning. */
  readonly key: string;
  /** What the key is called. */
  readonly name: string;
  /** What the key may do. */
  readonly scopes: readonly ('admin' | 'read_only')[];
  /** When it was made. */
  readonly created_at: string;
  /** Requests that the key itself authenticated. */
  readonly usage_count: number;
  /** False once it is revoked. */
  readonly active: boolean;
  /** When it was revoked. */
  readonly revoked_at?: string;
  /** The key counts up to this moment. */
  readonly expires_at?: string;
  /** When its value was last replaced. */
  readonly rotated_at?: string;
  /** When a request last came with it. */
  readonly last_used_at?: string;
  /** `inference`: the key may call models, and nothing else; left out for all others. Written it may be `full` too. */
  readonly access?: string;
  /** Until when the value before the last rotation works; left out when there is none that does. */
  readonly previous_expires_at?: string;
  /** Ids of models, aliases resolved, that the key may ask for; any without it. */
  readonly models?: readonly string[];
  /** Virtual keys of the targets that may serve the key; any without it. */
  readonly providers?: readonly string[];
  /** Words of the operator's choice, for show. */
  readonly tags?: readonly string[];
  /** Names of tools, or <server>/*, that the key may use; all without it. */
  readonly mcp_tools?: readonly string[];
  /** Requests in a minute. */
  readonly rpm?: number;
  /** Tokens in a minute. */
  readonly tpm?: number;
  /** US dollars that the key may spend. */
  readonly budget_usd?: number;
  /** What the key may spend in windows that begin again: US dollars, tokens or requests. */
  readonly budgets?: readonly {
    readonly usd?: number;
    readonly tokens?: number;
    readonly requests?: number;
    readonly every?: string;
    readonly at?: string;
    readonly on?: string | number;
    readonly timezone?: string;
    readonly from?: string;
    readonly reserve_tokens?: number;
    readonly warn?: readonly number[];
    readonly overrun?: 'one' | 'none';
    readonly over?: {
      readonly use: string;
      readonly more: number;
    };
    readonly models?: readonly string[];
  }[];
  /** Path of the account that the key belongs to: what binds it and those above it binds the key. */
  readonly account?: string;
  /** Requests in flight. */
  readonly max_parallel?: number;
  /** What becomes of requests whose model has no price. */
  readonly unpriced?: string;
  /** Refuses every request of models. */
  readonly blocked?: boolean;
  /** Models that the key may ask for, beside `models`: names, each exact or a beginning and a star. */
  readonly model_rules?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** Virtual keys of the targets that may serve the key, beside `providers`. */
  readonly provider_rules?: {
    readonly allow?: readonly string[];
    readonly deny?: readonly string[];
  };
  /** Budgets that each session of the key has for itself. */
  readonly session?: {
    readonly budgets: readonly {
      readonly usd?: number;
      readonly tokens?: number;
      readonly requests?: number;
      readonly every?: string;
      readonly at?: string;
      readonly on?: string | number;
      readonly timezone?: string;
      readonly from?: string;
      readonly reserve_tokens?: number;
      readonly warn?: readonly number[];
      readonly overrun?: 'one' | 'none';
      readonly over?: {
        readonly use: string;
        readonly more: number;
      };
      readonly models?: readonly string[];
    }[];
  };
  /** What brought it from another gateway: `litellm:` and the id of the import. */
  readonly origin?: string;
  readonly spend?: {
    readonly month_usd: number;
    readonly remaining_usd?: number;
  };
};

export type KeyUsage = {
  readonly data: readonly UsedKey[];
  readonly summary: {
    readonly total_keys: number;
    readonly active_keys: number;
    readonly total_usage: number;
    readonly returned_keys: number;
  };
  readonly filters: {
    readonly limit: number;
    readonly offset: number;
    readonly sort: string;
    readonly active: string;
    readonly since: string;
    readonly access?: string;
  };
};

export type Issuers = {
  readonly issuers: readonly {
    readonly name: string;
    readonly label: string;
  }[];
};

export type BegunSignIn = {
  readonly authorization_url: string;
  readonly transaction: string;
  readonly expires_at: string;
};

export type IdentityRecord = {
  readonly id: string;
  readonly issuer: string;
  readonly name: string;
  readonly subject: string;
  readonly first_seen_at: string;
  readonly signed_in_at?: string;
  readonly blocked_at?: string;
  readonly blocked_by?: string;
};

export type Identities = {
  readonly data: readonly IdentityRecord[];
  readonly summary: {
    readonly total_entries: number;
    readonly returned_entries: number;
  };
  readonly filters: {
    readonly limit: number;
    readonly offset: number;
    readonly issuer?: string;
    readonly blocked?: boolean;
    readonly q?: string;
  };
};

export type Session = {
  readonly token: string;
  readonly subject: string;
  readonly scopes: readonly ('admin' | 'read_only')[];
  readonly expires_at: string;
};

export type Sessions = {
  readonly data: readonly {
    readonly id: string;
    readonly credential_id: string;
    readonly subject: string;
    readonly scopes: readonly ('admin' | 'read_only')[];
    readonly created_at: string;
    readonly expires_at: string;
    readonly last_seen_at?: string;
    readonly active?: boolean;
  }[];
};

export type Revoked = {
  readonly revoked: number;
};

export type Status = {
  readonly status: string;
};

export type LogEntry = {
  /** Id of the request, as X-Request-ID says it. */
  readonly trace_id: string;
  /** Stage at which the row was written; after_request and on_error end a request. */
  readonly stage: string;
  /** Model that was asked for; of an answer the one that the upstream reported. */
  readonly model: string;
  /** Id of the credential; empty for none. */
  readonly api_key_id: string;
  /** Who made the answer. */
  readonly provider: string;
  /** Tokens of the prompt. */
  readonly prompt_tokens: number;
  /** Tokens of the answer. */
  readonly completion_tokens: number;
  /** Tokens of both. */
  readonly total_tokens: number;
  /** What went wrong; empty where nothing did. */
  readonly error_message: string;
  /** When it ended. */
  readonly created_at: string;
  /** Milliseconds from arrival to the answer; null where they were not measured. */
  readonly duration_ms: number | null;
  /** Milliseconds from arrival to the first chunk of a stream; null where there was none. */
  readonly ttft_ms: number | null;
  /** US dollars; null where nothing prices the model. */
  readonly cost_usd: number | null;
  /** Label of the A/B variant. */
  readonly ab_label?: string;
  /** Bytes from the client, of a connection that both sides write to. */
  readonly bytes_up?: number;
  /** Bytes to the client, of a connection that both sides write to. */
  readonly bytes_down?: number;
  /** Virtual key of the target. */
  readonly target?: string;
  /** Attempts at all targets. */
  readonly attempts?: number;
  /** Whether a cache had the answer. */
  readonly cache?: 'hit' | 'miss';
  /** What the cost was computed of: what the vendor reported of the use, an estimate, or the cost that the vendor reported. */
  readonly cost_source?: 'usage' | 'estimated' | 'reported';
  /** Line of the prices that the cost was computed by. */
  readonly price_line?: string;
  /** Version of the prices. */
  readonly catalog_version?: string;
  /** Tag of the surface, of a client that speaks a wire of its own. */
  readonly surface?: string;
  /** The wire that the client speaks. */
  readonly client_wire?: string;
  /** Whether the provider was asked in that wire. */
  readonly same_wire?: boolean;
  /** The provider's own id of the answer. */
  readonly upstream_request_id?: string;
  /** The session, as the client names it. */
  readonly session_id?: string;
  /** Kind of the provider, of an entry of `providers`. */
  readonly provider_kind?: string;
  /** Name of the credential that served or failed last; unique together with the target. */
  readonly credential?: string;
  /** Group of models whose route was tried last. */
  readonly model_group?: string;
  /** Whether the session stayed where it was served before. */
  readonly affinity?: 'new' | 'followed' | 'moved';
  /** Tokens of the prompt that the vendor read from its cache. */
  readonly cache_read_tokens?: number;
  /** Tokens of the prompt that the vendor wrote to its cache. */
  readonly cache_write_tokens?: number;
  /** US dollars that the vendor's cache saved; negative where writing to it cost more. */
  readonly cache_saved_usd?: number;
  /** Status that the client got; 499 where it had left before. */
  readonly status?: number;
  /** Whose doing the end of the request was. */
  readonly outcome?: 'ok' | 'client' | 'policy' | 'budget' | 'rate' | 'provider' | 'gateway';
  /** Code of the error, also of one that ended a stream. */
  readonly code?: string;
  /** Why, in a word for operators; clients do not get it. */
  readonly reason?: string;
  /** Status of the last reply that a provider gave. */
  readonly upstream_status?: number;
  /** What the provider said of the last attempt that failed. */
  readonly upstream_message?: string;
  /** Method of HTTP, of requests that are forwarded or refused at the door. */
  readonly method?: string;
  /** Path without its query, of requests that are forwarded or refused at the door. */
  readonly path?: string;
  /** Whether a stream was asked for. */
  readonly streamed?: boolean;
  /** Whom the request was made for, as its body says when it ends. */
  readonly user?: string;
  /** Entries of X-Gateway-Metadata and of the member metadata of the body, sixteen at most. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** The client's address, behind trusted proxies the one that they name. */
  readonly address?: string;
  /** The header User-Agent. */
  readonly user_agent?: string;
  /** Path of the account that the key belongs to. */
  readonly account?: string;
  /** Tags that count, of the key and of the request, in their order of names. */
  readonly tags?: readonly string[];
  /** Model that was asked for, where a budget has another one used. */
  readonly over_from?: string;
  /** Further refusals of one kind that this row stands for. */
  readonly repeats?: number;
};

export type Logs = {
  readonly data: readonly LogEntry[];
  readonly summary: {
    readonly total_entries: number | null;
    readonly returned_entries: number;
    readonly searched_entries?: number;
    readonly searched_to?: string | null;
  };
  readonly filters: {
    readonly [name: string]: string;
  };
  readonly next?: string | null;
};

export type LogValues = {
  readonly data: readonly {
    readonly value: string;
    readonly count: number;
    readonly name?: string;
  }[];
  readonly is_partial?: 'true';
};

export type DeniedAddresses = {
  readonly data: readonly {
    readonly address: string;
    readonly missing: number;
    readonly invalid: number;
    readonly first_at: string;
    readonly last_at: string;
    readonly user_agent: string;
    readonly path: string;
  }[];
  readonly summary: {
    readonly addresses: number;
    readonly requests: number;
    readonly forgotten: number;
  };
  readonly since: string;
};

export type LoggedRequest = {
  readonly trace_id: string;
  readonly request: LogEntry;
  readonly rows: readonly LogEntry[];
  readonly decision: Explanation | null;
  readonly attempts: readonly {
    readonly target: string;
    readonly upstream_model: string;
    readonly status: number | null;
    readonly duration_ms: number | null;
    readonly ended: string;
    readonly via?: 'chat' | 'responses';
    readonly credential?: string;
    readonly class?: string;
    readonly message?: string;
  }[];
  readonly has_older_rows?: boolean;
};

export type LogStatistics = {
  readonly summary: {
    readonly total_entries: number;
    readonly error_entries: number;
    readonly total_tokens: number;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly cost_usd: number;
    readonly unpriced_requests: number;
  };
  readonly latency_ms: {
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
    readonly mean: number;
    readonly count: number;
    readonly sampled?: number;
  } | null;
  readonly ttft_ms: {
    readonly p50: number;
    readonly p95: number;
    readonly p99: number;
    readonly max: number;
    readonly mean: number;
    readonly count: number;
    readonly sampled?: number;
  } | null;
  readonly by_stage: {
    readonly [name: string]: number;
  };
  readonly by_provider: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly by_model: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly top_errors: readonly {
    readonly message: string;
    readonly count: number;
  }[];
  readonly series: {
    readonly points: readonly {
      readonly start: string;
      readonly requests: number;
      readonly errors: number;
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
    }[];
    readonly truncated: boolean;
    readonly start?: string;
    readonly end?: string;
  };
  readonly filters: {
    readonly [name: string]: string;
  };
  readonly by_credential?: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly by_group?: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly by_key?: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly by_target?: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly by_surface?: {
    readonly [name: string]: {
      readonly count: number;
      readonly errors: number;
      readonly tokens: number;
      readonly prompt_tokens: number;
      readonly completion_tokens: number;
      readonly cost_usd: number;
      readonly unpriced: number;
    };
  };
  readonly by_outcome?: {
    readonly [name: string]: number;
  };
  readonly by_status?: {
    readonly [name: string]: number;
  };
  readonly by_code?: {
    readonly [name: string]: number;
  };
};

export type PurgedLogs = {
  readonly deleted: number;
  readonly filters: {
    readonly before: string;
    readonly stage: string;
    readonly model: string;
    readonly provider: string;
  };
};

export type AuditEntry = {
  readonly occurred_at: string;
  readonly action: string;
  readonly actor: string;
  readonly outcome: 'ok' | 'denied' | 'error';
  readonly actor_id?: string;
  readonly target_id?: string;
  readonly detail?: string;
  readonly source_ip?: string;
  readonly trace_id?: string;
  readonly id?: string;
  readonly changes?: readonly {
    readonly field: string;
    readonly before?: unknown;
    readonly after?: unknown;
    readonly more?: number;
  }[];
  readonly config_version?: number;
};

export type Audit = {
  readonly data: readonly AuditEntry[];
  readonly summary: {
    readonly total_entries: number;
    readonly returned_entries: number;
  };
  readonly filters: {
    readonly limit: number;
    readonly offset: number;
    readonly action?: string;
    readonly actor_id?: string;
    readonly target_id?: string;
    readonly outcome?: string;
    readonly since?: string;
    readonly until?: string;
    readonly include?: string;
  };
};

export type Configuration = Readonly<Record<string, unknown>>;

export type ConfigurationVersion = {
  readonly version: number;
  readonly updated_at: string;
  readonly rolled_back_from: number | null;
  readonly actor: string;
  readonly config?: Readonly<Record<string, unknown>>;
};

export type ConfigurationHistory = {
  readonly data: readonly ConfigurationVersion[];
  readonly summary: {
    readonly total_versions: number;
  };
};

export type ConfigurationSource = {
  readonly in_force: 'store' | 'file' | 'defaults';
  readonly version: number;
  readonly updated_at: string | null;
  readonly actor: string | null;
  readonly file: {
    readonly path: string;
    readonly watched: boolean;
    readonly differs: boolean | null;
    readonly readable: boolean;
  } | null;
  readonly next_start: 'store' | 'file' | 'defaults';
  readonly pending_restart: readonly string[];
  readonly format: 'yaml' | 'json';
  readonly withheld: readonly string[];
  readonly warnings: readonly {
    readonly rule: string;
    readonly path: string;
    readonly message: string;
    readonly fix: string;
  }[];
};

export type JsonSchema = Readonly<Record<string, unknown>>;

export type RolledBack = {
  readonly status: string;
  readonly rolled_back_to: number;
  readonly current_history_size: number;
};

export type Valid = {
  readonly valid: boolean;
};

export type Patched = {
  readonly status: string;
  readonly version: number;
  readonly changes: readonly {
    readonly path: string;
    readonly before: unknown;
    readonly after: unknown;
  }[];
};

export type Changes = {
  readonly changes: readonly {
    readonly path: string;
    readonly before: unknown;
    readonly after: unknown;
  }[];
};

export type Providers = readonly {
  readonly name: string;
  readonly models: readonly {
    readonly id: string;
    readonly object: string;
    readonly created: number;
    readonly owned_by: string;
  }[];
  readonly kind?: string;
  readonly source?: 'configuration';
  readonly base_url?: string | null;
  readonly data?: {
    readonly region?: string;
    readonly retention_days?: number;
    readonly trains?: boolean;
  } | null;
  readonly credentials?: readonly {
    readonly name: string;
    readonly vendor_account: string;
    readonly state: 'ready' | 'resting' | 'benched' | 'unresolved' | 'drained' | 'unknown';
    readonly class: string | null;
    readonly until: string | null;
    readonly models_resting: number;
    readonly in_flight: number;
    readonly weight: number;
    readonly max_concurrency: number | null;
    readonly last_refreshed_at: string | null;
  }[];
}[];

export type ProviderCatalog = {
  readonly providers: readonly {
    readonly id: string;
    readonly registered: boolean;
    readonly catalog_models: number;
    readonly instances?: readonly string[];
    readonly settings?: readonly {
      readonly key: string;
      readonly required: boolean;
      readonly secret: boolean;
    }[];
  }[];
};

export type Dashboard = {
  readonly providers: {
    readonly total: number;
    readonly available: number;
  };
  readonly keys: {
    readonly total: number;
    readonly active: number;
    readonly expired: number;
    readonly total_usage: number;
  };
  readonly request_logs: {
    readonly enabled: boolean;
    readonly total: number;
  };
};

export type Plugins = readonly {
  readonly name: string;
  readonly type: string;
  readonly enabled: boolean;
}[];

export type PluginCatalog = {
  readonly data: readonly {
    readonly name: string;
    readonly type: string;
    readonly summary: string;
    readonly settings: readonly string[];
    readonly fails_open: boolean;
  }[];
};

export type PluginSchemas = {
  readonly data: {
    readonly [name: string]: {
      readonly stages: readonly string[];
      readonly also_needs: readonly string[];
      readonly schema: Readonly<Record<string, unknown>> | null;
      readonly surfaces?: readonly string[];
    };
  };
};

export type Coverage = {
  readonly data: readonly {
    readonly surface: string;
    readonly stage: string;
    readonly plugins: readonly string[];
    readonly refused: boolean;
    readonly recorded: boolean;
    readonly translated?: {
      readonly plugins: readonly string[];
      readonly refused: boolean;
      readonly recorded: boolean;
    };
  }[];
  readonly warnings: readonly string[];
};

export type Identity = {
  readonly source: string | null;
  readonly digest: string | null;
  readonly identity: Readonly<Record<string, unknown>> | null;
};

export type DeepHealth = {
  readonly status: 'healthy' | 'degraded' | 'no_providers';
  readonly providers: readonly {
    readonly name: string;
    readonly status: 'available' | 'unavailable';
    readonly models: number;
    readonly message?: string;
  }[];
  readonly components: readonly {
    readonly name: string;
    readonly status: 'healthy' | 'unavailable' | 'disabled';
    readonly message?: string;
  }[];
  readonly mcp_servers: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly required: boolean;
    readonly last_error: string;
  }[];
  readonly scopes: readonly ('admin' | 'read_only')[];
  readonly targets: readonly {
    readonly name: string;
    readonly registered: boolean;
    readonly circuit: 'closed' | 'open' | 'half-open';
    readonly in_flight: number;
    readonly waiting: number;
    readonly routable?: boolean;
    readonly credentials?: {
      readonly ready: number;
      readonly resting: number;
      readonly benched: number;
      readonly unresolved: number;
    };
  }[];
  readonly identity?: {
    readonly issuers: readonly {
      readonly name: string;
      readonly state: 'answers' | 'away' | 'refused' | 'not asked';
      readonly keys: number;
      readonly keys_age_seconds?: number;
    }[];
    readonly digest: string;
  };
};

export type Explanation = {
  readonly model: string;
  readonly requested_model?: string;
  readonly surface?: string;
  readonly streaming?: boolean;
  readonly strategy?: string;
  readonly on_failure?: 'next target' | 'error';
  readonly rule?: string | null;
  readonly condition?: {
    readonly [name: string]: string;
  } | null;
  readonly ab_label?: string | null;
  readonly refusal?: {
    readonly code: string;
    readonly message: string;
  } | null;
  readonly unroutable?: string;
  readonly group?: {
    readonly name: string;
    readonly matched: 'exact' | 'prefix';
    readonly fallbacks: readonly string[];
  };
  readonly affinity?: {
    readonly source: string;
    readonly digest: string;
    readonly home?: {
      readonly target: string;
      readonly route?: string;
      readonly credential?: string;
      readonly vendor_account?: string;
    };
    readonly override?: {
      readonly target: string;
      readonly route?: string;
      readonly credential?: string;
      readonly vendor_account?: string;
    };
  };
  readonly bound?: {
    readonly target: string;
    readonly route?: string;
    readonly credential?: string;
    readonly vendor_account?: string;
  };
  readonly order?: readonly {
    readonly target: string;
    readonly route?: string;
    readonly via?: string;
    readonly reason?: string;
    readonly figures?: {
      readonly [name: string]: number | string | null;
    };
    readonly provider?: string;
    readonly kind?: string;
    readonly upstream_model?: string;
    readonly credentials?: readonly {
      readonly name: string;
      readonly state: 'ready' | 'resting' | 'benched' | 'unresolved' | 'drained' | 'unknown';
      readonly first: boolean;
      readonly until?: string;
      readonly class?: string;
    }[];
    readonly circuit?: string | null;
    readonly attempt?: {
      readonly via: 'chat' | 'responses';
      readonly via_reason: string;
    } | null;
  }[];
  readonly dropped?: readonly {
    readonly target: string;
    readonly reason: string;
    readonly route?: string;
    readonly via?: string;
    readonly figures?: {
      readonly [name: string]: number | string | null;
    };
  }[];
  readonly plugins?: readonly {
    readonly name: string;
    readonly stage: string;
  }[];
  readonly notes?: readonly string[];
  readonly price?: {
    readonly target: string;
    readonly line: string | null;
    readonly expected_usd: number | null;
    readonly reported: 'prefer' | 'compare' | 'ignore';
  };
  readonly budgets?: readonly {
    readonly name: string;
    readonly of: 'key' | 'session' | 'account' | 'tag';
    readonly unit: 'usd' | 'tokens' | 'requests';
    readonly limit: number;
    readonly spent: number | null;
    readonly reserved: number | null;
    readonly expected: number | null;
    readonly grants: boolean | null;
  }[];
  readonly over?: string;
  readonly attempts?: readonly {
    readonly target: string;
    readonly upstream_model: string;
    readonly status: number | null;
    readonly duration_ms: number | null;
    readonly ended: string;
    readonly via?: 'chat' | 'responses';
    readonly credential?: string;
    readonly class?: string;
    readonly message?: string;
  }[];
  readonly refused_by?: string;
};

export type ModelFacts = {
  readonly facts: {
    readonly [name: string]: {
      readonly value: unknown;
      readonly rule: string;
      readonly source: readonly string[];
      readonly checked: string;
    };
  };
};

export type Liveness = {
  readonly status: string;
};

export type Health = {
  readonly status: 'ok' | 'no_providers';
  readonly version: string;
  readonly commit: string;
  readonly built: string;
  readonly providers: readonly {
    readonly name: string;
    readonly status: 'available';
    readonly circuit: 'closed' | 'open' | 'half-open';
    readonly models: number;
  }[];
};

export type Readiness = {
  readonly status: 'ready' | 'not_ready';
  readonly targets: readonly {
    readonly name: string;
    readonly routable: boolean;
    readonly circuit: 'closed' | 'open' | 'half-open';
  }[];
  readonly reason?: string;
  readonly providers?: readonly {
    readonly name: string;
    readonly circuit: 'closed' | 'open' | 'half-open';
  }[];
  readonly mcp_servers?: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly required: boolean;
  }[];
  readonly ignored?: readonly ('targets' | 'mcp')[];
};

export type Model = {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly owned_by: string;
  readonly mode?: string;
  readonly context_window?: number;
  readonly max_output_tokens?: number;
  readonly capabilities?: readonly string[];
  readonly status?: string;
  readonly deprecated?: boolean;
};

export type Models = {
  readonly object: 'list';
  readonly data: readonly Model[];
};

export type SpendEntry = {
  readonly requests: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly images: number;
  readonly unpriced: number;
  readonly usd: number;
  readonly micro_usd: number;
  readonly estimated_usd: number;
  readonly reported_usd: number;
  readonly bucket?: string;
  readonly account?: string;
  readonly key?: string;
  readonly key_name?: string;
  readonly tag?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly target?: string;
  readonly credential?: string;
  readonly surface?: string;
  readonly line?: string;
  readonly catalog?: string;
  readonly source?: string;
};

export type Spend = {
  readonly data: readonly SpendEntry[];
  readonly summary: {
    readonly requests: number;
    readonly usd: number;
    readonly micro_usd: number;
    readonly groups: number;
    readonly returned: number;
    readonly untagged_usd?: number;
    readonly is_approximate?: boolean;
  };
  readonly filters: {
    readonly from: string;
    readonly to: string;
    readonly by: readonly string[];
    readonly timezone: string;
    readonly sort: string;
    readonly limit: number;
    readonly offset: number;
    readonly depth?: number;
    readonly bucket?: string;
    readonly account?: string;
    readonly key?: string;
    readonly tag?: string;
    readonly model?: string;
    readonly provider?: string;
    readonly target?: string;
    readonly credential?: string;
    readonly surface?: string;
    readonly line?: string;
  };
};

export type SpendEntered = {
  readonly idempotency_key: string;
  readonly account: string;
  readonly usd: number;
  readonly micro_usd: number;
  readonly at: string;
  readonly key_id?: string;
};

export type OwnKey = {
  readonly object: 'key';
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly unpriced: 'refuse' | 'warn' | 'allow';
  readonly budgets: readonly {
    readonly of: 'key' | 'session' | 'account' | 'tag';
    readonly unit: 'usd' | 'tokens' | 'requests';
    readonly every: string;
    readonly limit: number;
    readonly spent: number;
    readonly reserved: number;
    readonly remaining: number;
    readonly name?: string;
    readonly begins_at?: string;
    readonly ends_at?: string;
  }[];
  readonly account?: string;
  readonly issuer?: string;
  readonly expires_at?: string;
  readonly models?: readonly string[];
  readonly providers?: readonly string[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly max_parallel?: number;
  readonly spend?: {
    readonly today_usd: number;
    readonly month_usd: number;
  };
};

export type Capabilities = {
  readonly providers: {
    readonly [name: string]: {
      readonly [name: string]: string;
    };
  };
  readonly image_response_formats?: {
    readonly [name: string]: readonly string[];
  };
};

/** The limits of a key that its form has. */
export const KEY_LIMIT_FIELDS = {
  models: { kind: 'texts', label: 'Models', hint: 'Names between commas; empty allows every model.' },
  providers: { kind: 'texts', label: 'Targets', hint: 'Virtual keys between commas; empty allows every target.' },
  rpm: { kind: 'integer', label: 'Requests per minute', hint: 'Empty for no limit.' },
  tpm: { kind: 'integer', label: 'Tokens per minute', hint: 'Empty for no limit.' },
  budget_usd: { kind: 'amount', label: 'Budget in US dollars', hint: 'Empty for no limit.' },
  account: { kind: 'text', label: 'Account', hint: 'Path of an account, such as /acme/search; empty for none.' },
} as const;
