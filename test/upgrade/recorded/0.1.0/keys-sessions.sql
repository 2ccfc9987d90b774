CREATE TABLE session_schema_migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE session_schema_additions (version INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at DATETIME NOT NULL);
CREATE TABLE sessions (
          id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, credential_id TEXT NOT NULL, scopes TEXT NOT NULL,
          created_at DATETIME NOT NULL, last_seen_at DATETIME, expires_at DATETIME NOT NULL);
INSERT INTO "session_schema_migrations" ("version", "name", "applied_at") VALUES (1, 'sessions', '2026-11-28T02:50:14.974Z');
