import { type CommandInput, UsageError } from '../../../host/cli/command.ts';
import { accountId } from '../../../host/common/accounts/account-id.ts';
import { pathProblem } from '../../../host/common/accounts/account-path.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import type { Client } from '../client.ts';
import { type Row, textOf } from '../show.ts';

export const ACCOUNTS = '/admin/accounts';

const UNITS = ['usd', 'tokens', 'requests'] as const;

/** The path that a command was given. Throws for what is none, before anything is sent. */
export function pathIn({ args: [path = ''] }: Pick<CommandInput, 'args'>): string {
  const reason = pathProblem(path);
  if (reason !== undefined) throw new UsageError(`"${path}" is not the path of an account or a tag: ${reason}`);
  return path;
}

/** The route of an account: its id follows from its path. */
export const routeOf = (path: string): string => `${ACCOUNTS}/${accountId(path)}`;

/** An account as the gateway has it; `undefined` where it knows none of this path. */
export async function findAccount(client: Client, path: string): Promise<Row | undefined> {
  const answer = await client.send('GET', routeOf(path));
  if (answer.status === 404 && answer.text.includes('there is no account')) return undefined;
  return client.objectOf('GET', routeOf(path), answer);
}

/** The amount that is given by one of `--usd`, `--tokens` and `--requests`. */
export function amountIn(
  options: CommandInput['options'],
): { readonly unit: (typeof UNITS)[number]; readonly amount: number } | undefined {
  const [unit, other] = UNITS.filter((name) => options[name] !== undefined);
  if (unit === undefined) return undefined;
  if (other !== undefined) throw new UsageError(`--${unit} and --${other} are two budgets; give one of them at a time`);
  return { unit, amount: numberIn(`--${unit}`, options[unit]) };
}

export function numberIn(flag: string, value: CommandInput['options'][string]): number {
  const text = typeof value === 'string' ? value.trim() : '';
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) throw new UsageError(`${flag} "${text}" is not a number`);
  return number;
}

/** Budgets with what is spent of each in the window that runs: `usd 12.5/50 day, tokens 100/2000 5h`. */
export const budgetsText = ({ budgets }: Row): string =>
  Array.isArray(budgets) && budgets.length > 0 ? budgets.filter(isFields).map(budgetText).join(', ') : '-';

function budgetText(budget: Row): string {
  const unit = UNITS.find((name) => budget[name] !== undefined) ?? 'usd';
  const state = isFields(budget['state']) ? budget['state'] : {};
  const limit = Number(budget[unit]) + Number(state['raised'] ?? 0);
  const rounded = unit === 'usd' ? Math.round(limit * 1e6) / 1e6 : limit;
  return `${unit} ${textOf(state['spent'])}/${rounded} ${textOf(budget['every'], 'total')}`;
}
