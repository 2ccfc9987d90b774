import type { Unpriced } from '../../contract/index.ts';
import type { KeyBudget } from '../budgets/key-budget.ts';
import type { NameRules } from './name-rules.ts';

/** What binds all keys below an account, or all requests with a tag. What is absent is not bound. See docs/reference/accounts.md. */
export interface AccountLimits {
  readonly budgets?: readonly KeyBudget[];
  readonly rpm?: number;
  readonly tpm?: number;
  readonly max_parallel?: number;
  readonly models?: NameRules;
  readonly providers?: NameRules;
  readonly unpriced?: Unpriced;
  /** Names of tags that every request below must carry. */
  readonly required_tags?: readonly string[];
  /** Budgets that each session of each key has for itself. */
  readonly session?: { readonly budgets: readonly KeyBudget[] };
}

/** Who may bring a tag. */
export type BroughtBy = 'key' | 'request' | 'both';

/** An account or a tag as it is written: in the configuration, or with `/admin/accounts`. */
export interface WrittenAccount extends AccountLimits {
  readonly path: string;
  readonly title?: string;
  readonly blocked?: boolean;
  readonly child_default?: AccountLimits;
  readonly brought_by?: BroughtBy;
}

export type AccountLimitName = keyof AccountLimits;
export type AccountMemberName = keyof WrittenAccount;

export type AccountMemberKind =
  | 'text'
  | 'flag'
  | 'budgets'
  | 'integer'
  | 'rules'
  | 'word'
  | 'tags'
  | 'session'
  | 'limits';

interface MemberFacts {
  readonly kind: AccountMemberKind;
  /** From 1 to this, of an integer. */
  readonly most?: number;
  /** The words it may be. */
  readonly words?: readonly string[];
  /** Only accounts have it, or only tags. */
  readonly only?: 'account' | 'tag';
  /** A child takes it from `child_default` of its parent where it has none of its own. */
  readonly isInherited?: true;
  /** One phrase for operators, without a full stop. */
  readonly about: string;
}

const MOST_A_MINUTE = 2 ** 31 - 1;

/** The members of accounts and tags, in the order of answers and of checks. */
export const ACCOUNT_MEMBERS = {
  path: { kind: 'text', about: 'Path of an account, `/acme/search`, or # and the name of a tag; it never changes' },
  title: { kind: 'text', about: 'What people call it' },
  blocked: { kind: 'flag', about: 'Refuses every request of the keys below, or with the tag' },
  budgets: {
    kind: 'budgets',
    isInherited: true,
    about: 'What may be spent in windows that begin again: US dollars, tokens or requests',
  },
  rpm: { kind: 'integer', most: MOST_A_MINUTE, isInherited: true, about: 'Requests in a minute, of all keys together' },
  tpm: { kind: 'integer', most: MOST_A_MINUTE, isInherited: true, about: 'Tokens in a minute, of all keys together' },
  max_parallel: {
    kind: 'integer',
    most: 100_000,
    isInherited: true,
    about: 'Requests in flight, of all keys together',
  },
  models: { kind: 'rules', isInherited: true, about: 'Models that may be asked for, aliases resolved' },
  providers: { kind: 'rules', isInherited: true, about: 'Virtual keys of targets that may serve' },
  unpriced: {
    kind: 'word',
    words: ['refuse', 'warn', 'allow'],
    isInherited: true,
    about: 'What becomes of requests whose model has no price',
  },
  required_tags: {
    kind: 'tags',
    only: 'account',
    isInherited: true,
    about: 'Names of tags that every request must carry',
  },
  session: { kind: 'session', isInherited: true, about: 'Budgets that each session of each key has for itself' },
  child_default: {
    kind: 'limits',
    only: 'account',
    about: 'What each account directly below has where it has none of its own',
  },
  brought_by: {
    kind: 'word',
    words: ['key', 'request', 'both'],
    only: 'tag',
    about: 'Whether keys bring the tag, requests, or both; `key` unless said',
  },
} as const satisfies Readonly<Record<AccountMemberName, MemberFacts>>;

export const ACCOUNT_MEMBER_LIST: readonly (readonly [name: AccountMemberName, member: MemberFacts])[] =
  Object.entries<MemberFacts>(ACCOUNT_MEMBERS) as [AccountMemberName, MemberFacts][];

/** What an account takes from `child_default` of its parent. */
export const INHERITED_MEMBERS: readonly AccountLimitName[] = ACCOUNT_MEMBER_LIST.filter(
  ([, { isInherited }]) => isInherited,
).map(([name]) => name as AccountLimitName);
