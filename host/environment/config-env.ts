import { type Allowance, Allowances, namesIt, parseAllowance } from '../config/grants/allowances.ts';
import { refersToOwnSecret } from '../config/own-secrets.ts';
import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

/** Reads `GW_CONFIG_ENV`. What cannot be read stops the start: a typing error must not send a secret elsewhere. */
export function readAllowances(variables: Variables, notes: SettingNote[]): Allowances {
  const entries = (variables['GW_CONFIG_ENV'] ?? '').split(',').map((entry) => entry.trim());
  const read = entries.filter((entry) => entry !== '').flatMap((entry) => readEntry(entry, variables, notes));
  return new Allowances(read);
}

function readEntry(entry: string, variables: Variables, notes: SettingNote[]): readonly Allowance[] {
  const allowance = parseAllowance(entry);
  if (!allowance) {
    notes.push({
      level: 'fatal',
      message: `GW_CONFIG_ENV holds "${entry}"; write NAME, PREFIX_* or file:/path, each alone or with @host or @host:port`,
    });
    return [];
  }
  const idle = whyIdle(allowance, variables);
  if (idle !== undefined)
    notes.push({ level: 'warn', rule: 'WN34', message: `the entry "${entry}" of GW_CONFIG_ENV ${idle}` });
  return [allowance];
}

/** Why an entry lets nothing through. */
function whyIdle(allowance: Allowance, variables: Variables): string | undefined {
  if (allowance.name.startsWith('file:')) return undefined;
  const named = Object.keys(variables).filter((name) => namesIt(allowance, name));
  if (!allowance.isPrefix && refersToOwnSecret(allowance.name))
    return 'names a secret of the gateway itself, which nothing lifts';
  if (named.length === 0) return 'names no variable that is set';
  return named.every(refersToOwnSecret) ? 'names secrets of the gateway itself alone, which nothing lifts' : undefined;
}
