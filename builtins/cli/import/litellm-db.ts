import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../../host/cli/command.ts';
import { isWithin, pathProblem } from '../../../host/common/accounts/account-path.ts';
import { isZone } from '../../../host/common/budgets/zone.ts';
import type { Fields } from '../../../host/contract/json/fields.ts';
import type { CommandPlace } from '../../../host/host.ts';
import { Client, Unreachable } from '../client.ts';
import { printData } from '../show.ts';
import { adoptKeys, checkKeys } from './litellm-db/adopt.ts';
import { readDatabase } from './litellm-db/database.ts';
import { accountsOf, differencesOf, foreignMembers, modelsOf, writeAccounts } from './litellm-db/gateway.ts';
import { type LitellmPlan, planOf, type Restriction } from './litellm-db/plan.ts';
import { planReport, undoReport, verifyReport } from './litellm-db/report.ts';
import { withSource } from './litellm-db/source.ts';

type Options = CommandInput['options'];
type Run = (input: CommandInput, io: CommandIo, place: CommandPlace) => Promise<number>;

/** `gw import litellm-db`: keys, accounts and what was spent out of LiteLLM's database. */
export const run: RunCommand<CommandPlace> = (input, io, place) => {
  const { plan, apply, verify, undo } = input.options;
  const asked = [plan, apply, verify, undo].filter((option) => option !== undefined && option !== false);
  if (asked.length > 1) throw new UsageError('--plan, --apply, --verify and --undo are four tasks; give one of them');
  if (typeof undo === 'string') return undoing(undo, input, io, place);
  if (input.options['force'] === true) throw new UsageError('--force is for --undo');
  if (apply === true) return applying(input, io, place);
  return (verify === true ? verifying : planning)(input, io, place);
};

const planning: Run = async (input, io, place) => {
  const client = new Client(input, place);
  const planned = await planFrom(input, place);
  const found = await foundAt(client).catch((error: unknown) => {
    if (!(error instanceof Unreachable) && client.hasKey) throw error;
    io.err('the gateway was not asked: what it has already, and which models it serves, is not known\n');
    return undefined;
  });
  const plan = found ? withForeign(planned, found.accounts, input.options) : planned;
  const models = found ? plan.models.filter((name) => !found.models.has(name)) : [];
  const facts = { counts: { ...plan.counts, ...NOTHING_DONE }, restrictions: plan.restrictions, models };
  await printData(io, input.format, facts, () => planReport(plan, { models }));
  return exitOf(plan.restrictions);
};

const NOTHING_DONE = { adopted: 0, updated: 0, kept: 0, conflicts: 0 };

const applying: Run = async (input, io, place) => {
  const client = new Client(input, place);
  const found = await foundAt(client);
  const plan = withForeign(await planFrom(input, place), found.accounts, input.options);
  const models = plan.models.filter((name) => !found.models.has(name));
  if (plan.stops) {
    const facts = { counts: { ...plan.counts, ...NOTHING_DONE }, restrictions: plan.restrictions, models };
    await printData(io, input.format, facts, () => planReport(plan, { models }));
    throw new UsageError('nothing is applied: what restricts all keys there is not carried; accept it by its name');
  }
  const { id } = await client.object('POST', '/admin/imports', { source: 'litellm', note: 'gw import litellm-db' });
  const importId = String(id);
  const accounts = await writeAccounts(client, plan.accounts, found.accounts, importId);
  const { conflicts, ...counts } = await adoptKeys(client, importId, plan.keys);
  const facts = {
    import: { id: importId },
    counts: { ...plan.counts, ...counts, conflicts: conflicts.length },
    restrictions: plan.restrictions,
    models,
  };
  await printData(io, input.format, facts, () =>
    planReport(plan, { models, applied: { importId, accounts, ...counts, conflicts } }),
  );
  return exitOf(plan.restrictions);
};

const verifying: Run = async (input, io, place) => {
  const client = new Client(input, place);
  const { accounts } = await foundAt(client);
  const plan = withForeign(await planFrom(input, place), accounts, input.options);
  const keys = await checkKeys(client, plan.keys);
  const differences = [
    ...plan.accounts.flatMap((account) => {
      const members = differencesOf(account, accounts.get(account.path));
      return members.length > 0 ? [`account ${account.path}: ${members.join(', ')}`] : [];
    }),
    ...keys.differences,
  ];
  const { openingMicroUsd, spentMicroUsd } = keys;
  const facts = {
    keys: plan.keys.length,
    accounts: plan.accounts.length,
    opening_micro_usd: openingMicroUsd,
    spent_micro_usd: spentMicroUsd,
    differences,
  };
  await printData(io, input.format, facts, () => verifyReport(facts));
  return differences.length > 0 ? 1 : 0;
};

async function undoing(id: string, input: CommandInput, io: CommandIo, place: CommandPlace): Promise<number> {
  const isForced = input.options['force'] === true;
  const path = `/admin/imports/${encodeURIComponent(id)}${isForced ? '?force=true' : ''}`;
  const facts = await new Client(input, place).object('DELETE', path);
  const kept = Array.isArray(facts['kept']) ? facts['kept'] : [];
  await printData(io, input.format, facts, () => undoReport(facts));
  return kept.length > 0 ? 1 : 0;
}

interface Found {
  readonly accounts: ReadonlyMap<string, Fields>;
  readonly models: ReadonlySet<string>;
}

async function foundAt(client: Client): Promise<Found> {
  return { accounts: await accountsOf(client), models: await modelsOf(client) };
}

async function planFrom({ options }: CommandInput, { variables, clock, redactor }: CommandPlace): Promise<LitellmPlan> {
  const dsn = dsnIn(options, variables);
  const password = URL.parse(dsn)?.password;
  if (password) for (const secret of [password, decodeURIComponent(password)]) redactor.register(secret);
  const prefix = prefixIn(options);
  const { timezone, resetTime } = clockIn(options);
  const database = await withSource(dsn, readDatabase);
  return planOf({ database, prefix, clock: { now: clock.now(), timezone, resetTime } }, acceptedIn(options));
}

function dsnIn({ dsn }: Options, variables: CommandPlace['variables']): string {
  if (typeof dsn !== 'string' || dsn === '')
    throw new UsageError(
      '--dsn is required: the address of the database, or env: and the name of a variable that has it',
    );
  if (!dsn.startsWith('env:')) return dsn;
  const value = variables[dsn.slice(4)];
  if (!value) throw new UsageError(`the variable ${dsn.slice(4)} of --dsn is not set`);
  return value;
}

function prefixIn({ prefix = '/' }: Options): string {
  const path = String(prefix);
  const problem = path.startsWith('#') ? 'a path begins with /' : pathProblem(path);
  if (problem !== undefined) throw new UsageError(`--prefix "${path}": ${problem}`);
  return path;
}

function clockIn({ timezone = 'UTC', resetTime = '00:00' }: Options): { timezone: string; resetTime: string } {
  if (!isZone(String(timezone)))
    throw new UsageError(`--timezone "${String(timezone)}" is not a time zone such as Europe/Berlin`);
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(String(resetTime)))
    throw new UsageError(`--reset-time "${String(resetTime)}" is not a time such as 06:00`);
  return { timezone: String(timezone), resetTime: String(resetTime) };
}

const acceptedIn = ({ accept = '' }: Options): ReadonlySet<string> =>
  new Set(
    String(accept)
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== ''),
  );

/** Accounts that others made stay as they are. Where one lets more through, the keys below it come blocked, unless that is accepted. */
function withForeign(plan: LitellmPlan, known: ReadonlyMap<string, Fields>, options: Options): LitellmPlan {
  const wider = plan.accounts
    .filter((account) => foreignMembers(account, known.get(account.path)).length > 0)
    .map(({ path }) => path);
  if (wider.length === 0) return plan;
  const accepted = acceptedIn(options).has('account');
  const isBelow = ({ account = '/', tags = [] }: LitellmPlan['keys'][number]): boolean =>
    wider.some((path) => isWithin(account, path) || tags.includes(path.slice(1)));
  const keys = plan.keys.map((key) => (!accepted && isBelow(key) ? { ...key, blocked: true as const } : key));
  return {
    ...plan,
    keys,
    counts: { ...plan.counts, blocked: keys.filter(({ blocked }) => blocked).length },
    restrictions: [...plan.restrictions, { name: 'account', keys: plan.keys.filter(isBelow).length, accepted }],
  };
}

const exitOf = (restrictions: readonly Restriction[]): number =>
  restrictions.every(({ accepted }) => accepted) ? 0 : 1;
