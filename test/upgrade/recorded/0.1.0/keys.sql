CREATE TABLE api_key_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE api_key_schema_additions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE api_keys (
          id TEXT PRIMARY KEY, key_hash TEXT NOT NULL UNIQUE, key_display TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL,
          created_at DATETIME NOT NULL, revoked_at DATETIME, expires_at DATETIME, rotated_at DATETIME,
          active BOOLEAN NOT NULL, usage_count INTEGER NOT NULL DEFAULT 0, last_used_at DATETIME, models TEXT, providers TEXT, tags TEXT, mcp_tools TEXT, rpm INTEGER, tpm INTEGER, budget_usd DOUBLE PRECISION, previous_key_hash TEXT, previous_expires_at DATETIME, sessions_from DATETIME, budgets TEXT, account TEXT, max_parallel INTEGER, unpriced TEXT, blocked BOOLEAN, model_rules TEXT, provider_rules TEXT);
CREATE TABLE ledger_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE ledger_schema_additions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE ledger_accounts (
          ledger TEXT NOT NULL, account TEXT NOT NULL, committed INTEGER NOT NULL, spend_limit INTEGER, written_at DATETIME NOT NULL, ends_at DATETIME,
          PRIMARY KEY (ledger, account));
CREATE TABLE resource_owner_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE resource_owner_schema_additions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE resource_owners (kind TEXT NOT NULL, id TEXT NOT NULL, owner_id TEXT NOT NULL, created_at DATETIME NOT NULL, PRIMARY KEY (kind, id));
CREATE TABLE unbooked_responses (id TEXT PRIMARY KEY, body TEXT NOT NULL, created_at DATETIME NOT NULL);
CREATE TABLE spend_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE spend_schema_additions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE spend (hour INTEGER NOT NULL, span INTEGER NOT NULL, digest TEXT NOT NULL,
          account TEXT NOT NULL, key_id TEXT NOT NULL, tags TEXT NOT NULL, model TEXT NOT NULL, provider TEXT NOT NULL, target TEXT NOT NULL, credential TEXT NOT NULL, surface TEXT NOT NULL, line TEXT NOT NULL, catalog TEXT NOT NULL, source TEXT NOT NULL, requests INTEGER NOT NULL, unpriced INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL, reasoning_tokens INTEGER NOT NULL, images INTEGER NOT NULL, milliseconds INTEGER NOT NULL, characters INTEGER NOT NULL, searches INTEGER NOT NULL, micro_usd INTEGER NOT NULL, PRIMARY KEY (hour, span, digest));
CREATE TABLE spend_entries (idempotency_key TEXT NOT NULL PRIMARY KEY, body TEXT NOT NULL, at DATETIME NOT NULL);
CREATE TABLE account_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE account_schema_additions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE accounts (path TEXT PRIMARY KEY, body TEXT NOT NULL, import_id TEXT, version INTEGER NOT NULL,
            created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL);
CREATE TABLE raises (id TEXT PRIMARY KEY, subject TEXT NOT NULL, unit TEXT NOT NULL, rule TEXT, amount INTEGER NOT NULL,
            starts_at DATETIME NOT NULL, ends_at DATETIME NOT NULL, note TEXT, actor TEXT NOT NULL, created_at DATETIME NOT NULL);
CREATE TABLE imports (id TEXT PRIMARY KEY, source TEXT NOT NULL, note TEXT, actor TEXT NOT NULL, counts TEXT, at DATETIME NOT NULL);
INSERT INTO "api_key_schema_migrations" ("version", "name", "applied_at") VALUES (1, 'keys', '2026-11-28T02:50:14.754Z');
INSERT INTO "api_key_schema_migrations" ("version", "name", "applied_at") VALUES (2, 'limits of keys', '2026-11-28T02:50:14.765Z');
INSERT INTO "api_key_schema_migrations" ("version", "name", "applied_at") VALUES (3, 'rotation with a grace, and with an end of sessions', '2026-11-28T02:50:14.767Z');
INSERT INTO "api_key_schema_migrations" ("version", "name", "applied_at") VALUES (4, 'order of lists', '2026-11-28T02:50:14.771Z');
INSERT INTO "api_key_schema_additions" ("version", "name", "applied_at") VALUES (5, 'budgets of keys', '2026-11-28T02:50:14.772Z');
INSERT INTO "api_key_schema_additions" ("version", "name", "applied_at") VALUES (6, 'accounts of keys', '2026-11-28T02:50:14.782Z');
INSERT INTO "api_keys" ("id", "key_hash", "key_display", "name", "scopes", "created_at", "revoked_at", "expires_at", "rotated_at", "active", "usage_count", "last_used_at", "models", "providers", "tags", "mcp_tools", "rpm", "tpm", "budget_usd", "previous_key_hash", "previous_expires_at", "sessions_from", "budgets", "account", "max_parallel", "unpriced", "blocked", "model_rules", "provider_rules") VALUES ('b49a93f7-59f7-e910-5216-75f0b31ae544', '802b8a5c3edc18b66b11afc20e842cf71325a902d1c478267e26fcfb32de4656', 'gw_9c96d...', 'ada', '[]', '2026-11-28T02:50:16.595Z', NULL, NULL, NULL, 1, 2, '2026-11-28T02:50:16.691Z', NULL, NULL, NULL, NULL, 600, NULL, NULL, NULL, NULL, NULL, NULL, '/acme', NULL, NULL, NULL, NULL, NULL);
INSERT INTO "api_keys" ("id", "key_hash", "key_display", "name", "scopes", "created_at", "revoked_at", "expires_at", "rotated_at", "active", "usage_count", "last_used_at", "models", "providers", "tags", "mcp_tools", "rpm", "tpm", "budget_usd", "previous_key_hash", "previous_expires_at", "sessions_from", "budgets", "account", "max_parallel", "unpriced", "blocked", "model_rules", "provider_rules") VALUES ('c9a14ed6-9e4b-c3c3-47a2-536fbb43bb39', 'd51698f804167c5cf2fc9de5ede01f7e88e06737135edb4856f5bc6b86c21539', 'gw_31e27...', 'bo', '["read_only"]', '2026-11-28T02:50:16.626Z', NULL, NULL, NULL, 1, 2, '2026-11-28T02:50:16.713Z', NULL, NULL, NULL, NULL, NULL, NULL, 10, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "api_keys" ("id", "key_hash", "key_display", "name", "scopes", "created_at", "revoked_at", "expires_at", "rotated_at", "active", "usage_count", "last_used_at", "models", "providers", "tags", "mcp_tools", "rpm", "tpm", "budget_usd", "previous_key_hash", "previous_expires_at", "sessions_from", "budgets", "account", "max_parallel", "unpriced", "blocked", "model_rules", "provider_rules") VALUES ('a6568be7-c06d-3f97-01ab-166faf9ef127', 'ae8a91700dbe51219182598df3ebb4a972cf3680fe776501691575b42c0557bb', 'gw_686e5...', 'eve', '["read_only"]', '2026-11-28T02:50:16.644Z', '2026-11-28T02:50:16.654Z', NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO "ledger_schema_migrations" ("version", "name", "applied_at") VALUES (1, 'accounts', '2026-11-28T02:50:14.821Z');
INSERT INTO "ledger_schema_additions" ("version", "name", "applied_at") VALUES (2, 'windows', '2026-11-28T02:50:14.822Z');
INSERT INTO "ledger_accounts" ("ledger", "account", "committed", "spend_limit", "written_at", "ends_at") VALUES ('budgets', 'a:/acme|requests|total|', 2, 5, '2026-11-28 02:50:16', NULL);
INSERT INTO "resource_owner_schema_migrations" ("version", "name", "applied_at") VALUES (1, 'owners', '2026-11-28T02:50:14.856Z');
INSERT INTO "resource_owner_schema_additions" ("version", "name", "applied_at") VALUES (2, 'responses whose usage is not known yet', '2026-11-28T02:50:14.857Z');
INSERT INTO "resource_owner_schema_additions" ("version", "name", "applied_at") VALUES (3, 'responses that are not booked yet', '2026-11-28T02:50:14.858Z');
INSERT INTO "spend_schema_migrations" ("version", "name", "applied_at") VALUES (1, 'spend', '2026-11-28T02:50:14.907Z');
INSERT INTO "spend_schema_migrations" ("version", "name", "applied_at") VALUES (2, 'entries of spend', '2026-11-28T02:50:14.908Z');
INSERT INTO "spend" ("hour", "span", "digest", "account", "key_id", "tags", "model", "provider", "target", "credential", "surface", "line", "catalog", "source", "requests", "unpriced", "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "images", "milliseconds", "characters", "searches", "micro_usd") VALUES (498842, 1, 'noDjw62lwIvgy28HnXb-0I', '/acme', 'b49a93f7-59f7-e910-5216-75f0b31ae544', '', 'demo', 'echo', 'echo', '', 'chat', '', '', '', 2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO "spend" ("hour", "span", "digest", "account", "key_id", "tags", "model", "provider", "target", "credential", "surface", "line", "catalog", "source", "requests", "unpriced", "prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens", "reasoning_tokens", "images", "milliseconds", "characters", "searches", "micro_usd") VALUES (498842, 1, '5ppnUtBtBg9zj0usJotKPN', '', 'c9a14ed6-9e4b-c3c3-47a2-536fbb43bb39', '', 'gpt-4o-mini', 'echo', 'echo', '', 'chat', '', '', '', 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO "account_schema_migrations" ("version", "name", "applied_at") VALUES (1, 'accounts', '2026-11-28T02:50:14.958Z');
INSERT INTO "accounts" ("path", "body", "import_id", "version", "created_at", "updated_at") VALUES ('/acme', '{"title":"Acme","budgets":[{"requests":5,"every":"total"}]}', NULL, 1, '2026-11-28T02:50:16.544Z', '2026-11-28T02:50:16.544Z');
CREATE INDEX api_keys_previous ON api_keys (previous_key_hash);
CREATE INDEX api_keys_created ON api_keys (created_at DESC, id DESC);
CREATE INDEX api_keys_usage ON api_keys (usage_count DESC, last_used_at DESC, created_at DESC, id DESC);
CREATE INDEX api_keys_sums ON api_keys (active, usage_count);
CREATE INDEX api_keys_last_used ON api_keys (last_used_at DESC, usage_count DESC, created_at DESC, id DESC, active);
CREATE INDEX ledger_accounts_written ON ledger_accounts (written_at);
CREATE INDEX spend_account ON spend (account, hour);
CREATE INDEX spend_key ON spend (key_id, hour);
