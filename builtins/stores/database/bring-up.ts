import type { Log } from '../../../host/contract/index.ts';
import type { Database } from './database.ts';
import { type Migration, migrate, type Schema } from './migrate.ts';
import { readsFrom, StepLedgers } from './step-ledgers.ts';

/** How tables get their steps. */
export interface BringUp {
  readonly log: Log;
  readonly now: () => number;
  /** False where a start may not change tables (`GW_MIGRATE=off`). */
  readonly migrates: boolean;
}

/** Brings schemas up to date; where that is not allowed, throws with every step that is missing. Indexes alone are only warned of. */
export async function bringUp(database: Database, schemas: readonly Schema[], how: BringUp): Promise<void> {
  const { log, now, migrates } = how;
  if (migrates) {
    for (const schema of schemas) await migrate(database, schema, log, now);
    return;
  }
  const pending: string[] = [];
  const indexes: string[] = [];
  for (const schema of schemas) {
    const steps = await pendingSteps(database, schema);
    if (steps.length === 0) continue;
    const texts = steps.map(({ version, name }) => `${version} ${name}`).join(', ');
    const list = steps.every((step) => 'indexes' in step) ? indexes : pending;
    list.push(`${nameOf(schema)} needs ${steps.length} step${steps.length === 1 ? '' : 's'} (${texts})`);
  }
  if (pending.length > 0) throw new Error(`${pending.join('; ')}: run "gw migrate", or unset GW_MIGRATE`);
  if (indexes.length > 0)
    log.warn('indexes are missing, and GW_MIGRATE is off: run "gw migrate"', {
      rule: 'WN73',
      steps: indexes.join('; '),
    });
}

/** What a schema is called in reports: its ledger, without the word behind it. */
export const nameOf = ({ ledger }: Schema): string => ledger.replace(/_schema_migrations$/, '');

/** Steps that a database lacks, in their order; nothing is changed. None where a newer program has been there, which sees to them itself. */
export async function pendingSteps({ knex, dialect }: Database, schema: Schema): Promise<readonly Migration[]> {
  const ledgers = new StepLedgers(schema.ledger, schema.migrations, dialect, () => 0);
  const { versions, unknown } = await ledgers.asTheyAre(knex);
  return unknown.length > 0 ? [] : schema.migrations.filter(({ version }) => !versions.has(version));
}

/** Whether older programs may work on the tables after a step, as `gw migrate --check` says it. */
export function additiveText(step: Migration, dialect: Pick<Database['dialect'], 'name'>): string {
  const from = readsFrom(step, dialect);
  return from === null ? 'not additive' : `additive, from ${from}`;
}
