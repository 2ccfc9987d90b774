import { type CommandInput, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client } from '../client.ts';
import { readDocumentOf } from '../configuration/config-file.ts';
import { printDone, type Row } from '../show.ts';
import { ACCOUNTS, amountIn, findAccount, numberIn, pathIn, routeOf } from './account-call.ts';

type Options = CommandInput['options'];
type Members = Readonly<Record<string, unknown>>;

/** What says which budget is meant, beside its unit. */
const WINDOW = ['every', 'at', 'on', 'timezone'] as const;
const NUMBERS = { rpm: 'rpm', tpm: 'tpm', maxParallel: 'max_parallel' } as const;

/** `gw admin accounts set <path>`: makes an account, or changes what is named of it. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const path = pathIn(input);
  const { options } = input;
  const members = membersIn(options);
  const budget = budgetIn(options);
  const file = typeof options['file'] === 'string' ? await readDocumentOf(options['file'], place) : undefined;
  if (file && (budget || Object.keys(members).length > 0))
    throw new UsageError('--file says what the account is; leave out the other flags');
  const client = new Client(input, place);
  const known = await findAccount(client, path);
  const body = {
    ...(file ?? members),
    ...(budget && { budgets: withBudget(known, budget) }),
  };
  if (known && Object.keys(body).length === 0)
    throw new UsageError('say what is to change: --file, --title, --usd, --tokens, --requests, --rpm, --tpm, …');
  const saved = known
    ? await client.object('PUT', routeOf(path), body, { 'If-Match': `"${String(known['version'])}"` })
    : await client.object('POST', ACCOUNTS, { path, ...body });
  return printDone(io, input.format, known ? 'Account changed.' : 'Account made.', saved);
};

function membersIn(options: Options): Members {
  const { title, unpriced, block, unblock } = options;
  if (block === true && unblock === true) throw new UsageError('--block and --unblock cannot both be');
  return {
    ...(title !== undefined && { title }),
    ...Object.fromEntries(
      Object.entries(NUMBERS).flatMap(([option, member]) =>
        options[option] === undefined ? [] : [[member, numberIn(`--${member.replace('_', '-')}`, options[option])]],
      ),
    ),
    ...(unpriced !== undefined && { unpriced }),
    ...(block === true && { blocked: true }),
    ...(unblock === true && { blocked: null }),
  };
}

function budgetIn(options: Options): Members | undefined {
  const given = amountIn(options);
  const window = WINDOW.filter((name) => options[name] !== undefined);
  if (!given) {
    if (window.length > 0) throw new UsageError(`--${window[0]} is of no use without --usd, --tokens or --requests`);
    return undefined;
  }
  const day = options['on'];
  return {
    [given.unit]: given.amount,
    ...Object.fromEntries(window.map((name) => [name, options[name]])),
    ...(typeof day === 'string' && /^\d+$/.test(day) && { on: Number(day) }),
  };
}

/** The account's own budgets, with the limit of the one that counts the same unit in windows that are written alike, or with one more. */
function withBudget(known: Row | undefined, budget: Members): readonly Members[] {
  const own = isInherited(known, 'budgets') ? undefined : known?.['budgets'];
  const before = (Array.isArray(own) ? own.filter(isFields) : []).map(({ state: _state, ...written }) => written);
  const at = before.findIndex((each) => isSameRule(each, budget));
  return at < 0 ? [...before, budget] : before.with(at, { ...before[at], ...budget });
}

const isInherited = (known: Row | undefined, member: string): boolean => {
  const inherited = known?.['inherited'];
  return Array.isArray(inherited) && inherited.includes(member);
};

function isSameRule(one: Members, other: Members): boolean {
  const unit = ['usd', 'tokens', 'requests'].find((name) => other[name] !== undefined) ?? '';
  if (one[unit] === undefined || one['models'] !== undefined || one['from'] !== undefined) return false;
  const rule = ({ every = 'total', ...rest }: Members): string =>
    JSON.stringify([every, ...WINDOW.slice(1).map((name) => rest[name] ?? null)]);
  return rule(one) === rule(other);
}
