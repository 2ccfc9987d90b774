import type { Schema } from './database/migrate.ts';

/** The table of the audit trail. See docs/reference/admin.md#tables. */
export const AUDIT_SCHEMA: Schema = {
  ledger: 'audit_schema_migrations',
  table: 'audit_log',
  migrations: [
    {
      version: 1,
      name: 'audit trail',
      readsFrom: null,
      up: async (trx, { moment, serial }) => {
        await trx.raw(`CREATE TABLE audit_log (
          id ${serial}, occurred_at ${moment} NOT NULL, action TEXT NOT NULL, actor TEXT NOT NULL, actor_id TEXT, target_id TEXT,
          outcome TEXT NOT NULL, detail TEXT, source_ip TEXT, trace_id TEXT)`);
      },
    },
    {
      version: 2,
      name: 'indexes of the audit trail',
      readsFrom: null, // every program that has this table knows it
      indexes: () => ({
        audit_log_moment: ['occurred_at DESC'],
        audit_log_actor: ['actor_id', 'occurred_at DESC'],
        audit_log_action: ['action', 'occurred_at DESC'],
      }),
    },
    {
      version: 3,
      name: 'changes of an entry',
      readsFrom: 2,
      up: async (trx) => {
        await trx.raw('ALTER TABLE audit_log ADD COLUMN changes TEXT');
        await trx.raw('ALTER TABLE audit_log ADD COLUMN config_version INTEGER');
      },
    },
  ],
};
