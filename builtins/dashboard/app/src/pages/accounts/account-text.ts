import type { Account, Raise } from '../../api/answers.ts';
import { typedBudgets, type TypedBudget } from '../../budgets/budget-text.ts';
import { count, integer, usd } from '../../lib/format.ts';
import { readJson } from '../../lib/json.ts';

export type ShownBudget = NonNullable<Account['budgets']>[number];
type Unit = Raise['unit'];
type Rules = NonNullable<Account['models']>;

/** How far an account stands below `/`; tags stand beside the tree, as far out as its first accounts. */
export const depthOf = (path: string): number =>
  path.startsWith('#') ? 1 : path.split('/').filter((part) => part !== '').length;

/** The end of a path, which names it below the one above. */
export const nameOf = (path: string): string => (depthOf(path) > 1 ? (path.split('/').at(-1) ?? path) : path);

export function unitOf({ usd: dollars, tokens }: Pick<ShownBudget, 'usd' | 'tokens'>): Unit {
  if (dollars !== undefined) return 'usd';
  return tokens === undefined ? 'requests' : 'tokens';
}

/** An amount with its unit: `$12.50`, `100 tokens`. */
export const amountText = (unit: Unit, amount: number): string =>
  unit === 'usd' ? usd(amount) : count(amount, unit.slice(0, -1));

/** `a day`, `every 5h`; nothing of a budget that never begins again. */
export function windowText(every: string | undefined): string {
  if (every === undefined || every === 'total') return 'in all';
  return ['day', 'week', 'month'].includes(every) ? `a ${every}` : `every ${every}`;
}

/** What binds beside budgets. */
export function limitsText(account: Account): string {
  const { rpm, tpm, max_parallel: parallel, models, providers, unpriced, required_tags: tags, brought_by } = account;
  return [
    rpm !== undefined && `${integer(rpm)} requests/min`,
    tpm !== undefined && `${integer(tpm)} tokens/min`,
    parallel !== undefined && `${integer(parallel)} in flight`,
    models && 'rules of models',
    providers && 'rules of targets',
    unpriced !== undefined && `without a price: ${unpriced}`,
    tags && `needs ${tags.map((tag) => `#${tag}`).join(', ')}`,
    account.session && 'budgets of sessions',
    account.child_default && 'defaults for accounts below',
    brought_by !== undefined && brought_by !== 'key' && 'requests bring it',
  ]
    .filter((part) => typeof part === 'string')
    .join(' · ');
}

/** What is typed of an account. */
export interface TypedAccount {
  readonly path: string;
  readonly title: string;
  readonly isBlocked: boolean;
  readonly budgets: readonly TypedBudget[];
  readonly rpm: string;
  readonly tpm: string;
  readonly max_parallel: string;
  readonly modelsAllow: string;
  readonly modelsDeny: string;
  readonly providersAllow: string;
  readonly providersDeny: string;
  readonly unpriced: string;
  readonly required_tags: string;
  readonly brought_by: string;
  /** As JSON. */
  readonly session: string;
  readonly child_default: string;
}

/** The members that an account has by itself: what comes from above is not sent. */
export function typedAccount(account: Account | undefined, path = ''): TypedAccount {
  const own = <Name extends keyof Account>(name: Name): Account[Name] | undefined =>
    account?.inherited?.includes(name) ? undefined : account?.[name];
  const [models, providers] = [own('models'), own('providers')];
  return {
    path: account?.path ?? path,
    title: own('title') ?? '',
    isBlocked: account?.blocked === true,
    budgets: typedBudgets(own('budgets')?.map(({ state: _state, ...written }) => written)),
    rpm: String(own('rpm') ?? ''),
    tpm: String(own('tpm') ?? ''),
    max_parallel: String(own('max_parallel') ?? ''),
    modelsAllow: listText(models?.allow),
    modelsDeny: listText(models?.deny),
    providersAllow: listText(providers?.allow),
    providersDeny: listText(providers?.deny),
    unpriced: own('unpriced') ?? '',
    required_tags: listText(own('required_tags')),
    brought_by: own('brought_by') ?? 'key',
    session: jsonText(own('session')),
    child_default: jsonText(own('child_default')),
  };
}

const listText = (names: readonly string[] | undefined): string => names?.join(', ') ?? '';
const jsonText = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, undefined, 2));

/** Members of a body by what was typed; those that were not changed are left out, and `null` takes one away. */
export function changedMembers(
  typed: TypedAccount,
  before: TypedAccount,
  budgets: readonly object[] | null,
): Readonly<Record<string, unknown>> {
  const isChanged = (...names: (keyof TypedAccount)[]): boolean =>
    names.some((name) => JSON.stringify(typed[name]) !== JSON.stringify(before[name]));
  const text = (value: string): string | null => (value.trim() === '' ? null : value.trim());
  const number = (value: string): number | null => (value.trim() === '' ? null : Number(value));
  return {
    ...(isChanged('title') && { title: text(typed.title) }),
    ...(isChanged('isBlocked') && { blocked: typed.isBlocked ? true : null }),
    ...(isChanged('budgets') && { budgets }),
    ...(isChanged('rpm') && { rpm: number(typed.rpm) }),
    ...(isChanged('tpm') && { tpm: number(typed.tpm) }),
    ...(isChanged('max_parallel') && { max_parallel: number(typed.max_parallel) }),
    ...(isChanged('modelsAllow', 'modelsDeny') && { models: rulesOf(typed.modelsAllow, typed.modelsDeny) }),
    ...(isChanged('providersAllow', 'providersDeny') && {
      providers: rulesOf(typed.providersAllow, typed.providersDeny),
    }),
    ...(isChanged('unpriced') && { unpriced: text(typed.unpriced) }),
    ...(isChanged('required_tags') && { required_tags: listOf(typed.required_tags) ?? null }),
    ...(isChanged('brought_by') && { brought_by: typed.brought_by === 'key' ? null : typed.brought_by }),
    ...(isChanged('session') && { session: jsonOf(typed.session) }),
    ...(isChanged('child_default') && { child_default: jsonOf(typed.child_default) }),
  };
}

function rulesOf(allow: string, deny: string): Rules | null {
  const [allowed, denied] = [listOf(allow), listOf(deny)];
  if (!allowed && !denied) return null;
  return { ...(allowed && { allow: allowed }), ...(denied && { deny: denied }) };
}

function listOf(text: string): readonly string[] | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 0 ? names : undefined;
}

const jsonOf = (text: string): unknown => (text.trim() === '' ? null : readJson(text));

/** What is wrong with a text that is to be JSON. */
export const jsonProblem = (text: string): string | undefined =>
  text.trim() === '' || readJson(text) !== undefined ? undefined : 'This is not JSON.';

export function numberProblem(text: string): string | undefined {
  const value = Number(text);
  return text.trim() === '' || (Number.isInteger(value) && value >= 1)
    ? undefined
    : 'A limit is a whole number from 1.';
}
