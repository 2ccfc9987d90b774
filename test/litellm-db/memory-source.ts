import { readDatabase } from '../../builtins/cli/import/litellm-db/database.ts';
import { type LitellmPlan, planOf } from '../../builtins/cli/import/litellm-db/plan.ts';
import { isRead } from '../../builtins/cli/import/litellm-db/tables.ts';
import type { Row, Rows } from './kit.ts';
import { SCHEMAS } from './kit.ts';

export const NOW = Date.parse('2026-11-28T02:00:00Z');

/** A plan of rows as a version of LiteLLM would keep them, without a database. */
export async function planned(
  version: string,
  rows: Rows,
  options: { readonly prefix?: string; readonly accept?: readonly string[] } = {},
): Promise<LitellmPlan> {
  const tables = SCHEMAS[version]!;
  const columns = new Map(Object.entries(tables).map(([name, table]) => [name, new Set(Object.keys(table.columns))]));
  const database = await readDatabase({
    columns,
    rows: async (table) =>
      columns.has(table) ? (rows[table.replace('LiteLLM_', '')] ?? []).map((row) => readable(table, row)) : [],
    has: async () => false,
  });
  const { prefix = '/', accept = [] } = options;
  return planOf({ database, prefix, clock: { now: NOW, timezone: 'UTC', resetTime: '00:00' } }, new Set(accept));
}

const readable = (table: string, row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => isRead(table, name)));
