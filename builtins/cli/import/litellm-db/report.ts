import { isFields } from '../../../../host/contract/json/fields.ts';
import { textOf } from '../../show.ts';
import type { Adopted } from './adopt.ts';
import type { LitellmPlan } from './plan.ts';

interface Applied extends Adopted {
  readonly importId: string;
  /** Accounts and tags that were made or changed. */
  readonly accounts: number;
}

const MOST_LINES = 20;

/** What is there, what of it is not carried, and what was done. */
export function planReport(
  plan: LitellmPlan,
  { models, applied }: { readonly models: readonly string[]; readonly applied?: Applied },
): string {
  const { organizations, teams, users, tags, keys, blocked } = plan.counts;
  return [
    `LiteLLM has ${organizations} organizations, ${teams} teams, ${users} users, ${tags} tags, ${keys} keys.`,
    ...section(
      'Restricts there, and is not carried',
      plan.restrictions.map(
        ({ name, keys: count, accepted }) => `${textOf(name)}: ${count} keys${accepted ? ', accepted' : ''}`,
      ),
    ),
    ...section(
      'Models that keys name and the gateway does not serve',
      models.map((name) => textOf(name)),
    ),
    ...section('Notes', plan.notes),
    ...(applied ? appliedLines(applied) : ['', `${plan.accounts.length} accounts and tags would be made.`]),
    ...(blocked > 0 ? ['', `Blocked: ${blocked} keys.`] : []),
  ].join('\n');
}

function appliedLines({ importId, accounts, adopted, updated, kept, conflicts }: Applied): readonly string[] {
  return [
    ...section(
      'Left out: another key of the gateway has their value',
      conflicts.map((name) => textOf(name)),
    ),
    '',
    `Import ${importId}: ${adopted} keys made, ${updated} changed, ${kept} left as they were changed here; ${accounts} accounts and tags.`,
    `Take it back with "gw import litellm-db --undo ${importId}".`,
  ];
}

interface Verified {
  readonly keys: number;
  readonly accounts: number;
  readonly opening_micro_usd: number;
  readonly spent_micro_usd: number;
  readonly differences: readonly string[];
}

export function verifyReport(found: Verified): string {
  const { keys, accounts, opening_micro_usd: opening, spent_micro_usd: spent, differences } = found;
  return [
    `Compared ${keys} keys, ${accounts} accounts and tags.`,
    `Keys had spent ${opening} micro-dollars in the windows that run; counted here: ${spent}.`,
    ...(differences.length === 0
      ? ['Nothing lets more through than it did.']
      : section(
          'Differences',
          differences.map((line) => textOf(line)),
        )),
  ].join('\n');
}

export function undoReport({ removed, kept }: Readonly<Record<string, unknown>>): string {
  const { keys = 0, accounts = 0 } = isFields(removed) ? removed : {};
  const left = Array.isArray(kept) ? kept.filter(isFields) : [];
  return [
    `Removed ${String(keys)} keys, ${String(accounts)} accounts and tags.`,
    ...section(
      'Kept; --force removes what no key needs',
      left.map(({ id, reason }) => `${textOf(id)}: ${textOf(reason)}`),
    ),
  ].join('\n');
}

function section(title: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  const more = lines.length > MOST_LINES ? [`  and ${lines.length - MOST_LINES} more`] : [];
  return ['', `${title}: ${lines.length}`, ...lines.slice(0, MOST_LINES).map((line) => `  ${line}`), ...more];
}
