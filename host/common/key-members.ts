import type { Unpriced } from '../contract/index.ts';
import type { NameRules } from './accounts/name-rules.ts';
import type { KeyBudget } from './budgets/key-budget.ts';

export type KeyMemberKind =
  | 'text'
  | 'texts'
  | 'scopes'
  | 'moment'
  | 'flag'
  | 'integer'
  | 'amount'
  | 'budgets'
  | 'rules'
  | 'session'
  | 'word';
type LimitKind = 'text' | 'texts' | 'flag' | 'integer' | 'amount' | 'budgets' | 'rules' | 'session' | 'word';

interface Flag {
  readonly flags: string;
  readonly summary: string;
  readonly default?: string;
}

interface MemberFacts {
  readonly kind: KeyMemberKind;
  /** Answers leave it out while it is unset, unless it is always there. */
  readonly isAlways?: true;
  /** Administrators write it, with `POST /admin/keys` and `PUT /admin/keys/{id}`. */
  readonly isWritten?: true;
  /** The flag of `gw admin keys create` that gives it. */
  readonly flag?: Flag;
  /** One phrase for operators, without a full stop. */
  readonly about: string;
}

/** What a key may use: a member that needs no code of its own on its way from a request into the store, and back. */
interface LimitFacts extends MemberFacts {
  readonly kind: LimitKind;
  readonly isWritten: true;
  readonly isLimit: true;
  /** From 1 to this, of an integer. */
  readonly most?: number;
  /** What a word may be. */
  readonly words?: readonly string[];
  /** The step of the schema that adds its column. */
  readonly since: number;
  /** The field of the dashboard's form; none unless said. */
  readonly form?: { readonly label: string; readonly hint: string };
}

const MOST_A_MINUTE = 2 ** 31 - 1;

/**
 * The limits of a key, in the order of answers and of checks. The type of a key's limits, what administrators may write, columns, answers, the
 * schema of the HTTP API, flags of the command line and the form of the dashboard come from here: after a change run
 * `npm run dashboard-types`, and `npm run docs:cli` where a flag has changed.
 */
export const KEY_LIMITS = {
  models: {
    kind: 'texts',
    isWritten: true,
    isLimit: true,
    since: 2,
    flag: { flags: '--model <names>', summary: 'Models that it may ask for, between commas', default: 'all' },
    form: { label: 'Models', hint: 'Names between commas; empty allows every model.' },
    about: 'Ids of models, aliases resolved, that the key may ask for; any without it',
  },
  providers: {
    kind: 'texts',
    isWritten: true,
    isLimit: true,
    since: 2,
    form: { label: 'Targets', hint: 'Virtual keys between commas; empty allows every target.' },
    about: 'Virtual keys of the targets that may serve the key; any without it',
  },
  tags: {
    kind: 'texts',
    isWritten: true,
    isLimit: true,
    since: 2,
    flag: { flags: '--tag <names>', summary: 'Its tags, between commas', default: 'none' },
    about: "Words of the operator's choice, for show",
  },
  mcp_tools: {
    kind: 'texts',
    isWritten: true,
    isLimit: true,
    since: 2,
    about: 'Names of tools, or <server>/*, that the key may use; all without it',
  },
  rpm: {
    kind: 'integer',
    isWritten: true,
    isLimit: true,
    most: MOST_A_MINUTE,
    since: 2,
    flag: { flags: '--rpm <count>', summary: 'Requests in a minute', default: 'no limit' },
    form: { label: 'Requests per minute', hint: 'Empty for no limit.' },
    about: 'Requests in a minute',
  },
  tpm: {
    kind: 'integer',
    isWritten: true,
    isLimit: true,
    most: MOST_A_MINUTE,
    since: 2,
    flag: { flags: '--tpm <count>', summary: 'Tokens in a minute', default: 'no limit' },
    form: { label: 'Tokens per minute', hint: 'Empty for no limit.' },
    about: 'Tokens in a minute',
  },
  budget_usd: {
    kind: 'amount',
    isWritten: true,
    isLimit: true,
    since: 2,
    flag: { flags: '--budget-usd <amount>', summary: 'US dollars that it may spend', default: 'no limit' },
    form: { label: 'Budget in US dollars', hint: 'Empty for no limit.' },
    about: 'US dollars that the key may spend',
  },
  budgets: {
    kind: 'budgets',
    isWritten: true,
    isLimit: true,
    since: 5,
    about: 'What the key may spend in windows that begin again: US dollars, tokens or requests',
  },
  account: {
    kind: 'text',
    isWritten: true,
    isLimit: true,
    since: 6,
    flag: { flags: '--account <path>', summary: 'Account that the key belongs to', default: 'none' },
    form: { label: 'Account', hint: 'Path of an account, such as /acme/search; empty for none.' },
    about: 'Path of the account that the key belongs to: what binds it and those above it binds the key',
  },
  max_parallel: {
    kind: 'integer',
    isWritten: true,
    isLimit: true,
    most: 100_000,
    since: 6,
    about: 'Requests in flight',
  },
  unpriced: {
    kind: 'word',
    words: ['refuse', 'warn', 'allow'],
    isWritten: true,
    isLimit: true,
    since: 6,
    about: 'What becomes of requests whose model has no price',
  },
  blocked: { kind: 'flag', isWritten: true, isLimit: true, since: 6, about: 'Refuses every request of models' },
  model_rules: {
    kind: 'rules',
    isWritten: true,
    isLimit: true,
    since: 6,
    about: 'Models that the key may ask for, beside `models`: names, each exact or a beginning and a star',
  },
  provider_rules: {
    kind: 'rules',
    isWritten: true,
    isLimit: true,
    since: 6,
    about: 'Virtual keys of the targets that may serve the key, beside `providers`',
  },
  session: {
    kind: 'session',
    isWritten: true,
    isLimit: true,
    since: 7,
    about: 'Budgets that each session of the key has for itself',
  },
} as const satisfies Readonly<Record<string, LimitFacts>>;

/**
 * What each step of the schema of keys adds that adds columns of limits. A new limit has a step after the last one of the schema.
 * `readsFrom` is the step that a program must know at least to work beside it (docs/stores.md#versions-of-the-tables): one that does not know a limit does not hold it.
 */
export const KEY_LIMIT_STEPS = {
  2: { name: 'limits of keys', readsFrom: null },
  5: { name: 'budgets of keys', readsFrom: 4 }, // the way back from an upgrade stays open: docs/decisions/0072-budgets-of-a-key-are-asked-together.md
  6: { name: 'accounts of keys', readsFrom: 4 }, // as step 5
  7: { name: 'budgets of sessions of keys', readsFrom: 4 }, // as step 5
} as const satisfies Readonly<Record<number, { readonly name: string; readonly readsFrom: number | null }>>;

/** Every member of a key, in the order of answers. See docs/admin.md#keys. */
export const KEY_MEMBERS = {
  id: { kind: 'text', isAlways: true, about: 'It never changes' },
  key: { kind: 'text', isAlways: true, about: 'The whole value right after it was made, else its beginning' },
  name: {
    kind: 'text',
    isAlways: true,
    isWritten: true,
    flag: { flags: '--name <name>', summary: 'What the key is called', default: 'empty, which the gateway refuses' },
    about: 'What the key is called',
  },
  scopes: {
    kind: 'scopes',
    isAlways: true,
    isWritten: true,
    flag: { flags: '--scope <scope>', summary: 'read_only or admin', default: 'read_only' },
    about: 'What the key may do',
  },
  created_at: { kind: 'moment', isAlways: true, about: 'When it was made' },
  revoked_at: { kind: 'moment', about: 'When it was revoked' },
  expires_at: {
    kind: 'moment',
    isWritten: true,
    flag: { flags: '--expires-in <duration>', summary: 'Time until it expires, such as 720h', default: 'never' },
    about: 'The key counts up to this moment',
  },
  rotated_at: { kind: 'moment', about: 'When its value was last replaced' },
  last_used_at: { kind: 'moment', about: 'When a request last came with it' },
  usage_count: { kind: 'integer', isAlways: true, about: 'Requests that the key itself authenticated' },
  active: { kind: 'flag', isAlways: true, about: 'False once it is revoked' },
  access: {
    kind: 'text',
    isWritten: true,
    flag: {
      flags: '--access <access>',
      summary: 'inference or full',
      default: 'inference; full where --scope is given',
    },
    about:
      '`inference`: the key may call models, and nothing else; left out for all others. Written it may be `full` too',
  },
  previous_expires_at: {
    kind: 'moment',
    about: 'Until when the value before the last rotation works; left out when there is none that does',
  },
  ...KEY_LIMITS,
  origin: { kind: 'text', about: 'What brought it from another gateway: `litellm:` and the id of the import' },
} as const satisfies Readonly<Record<string, MemberFacts>>;

export type KeyMemberName = keyof typeof KEY_MEMBERS;
export type KeyLimitName = keyof typeof KEY_LIMITS;

interface LimitKinds {
  readonly texts: readonly string[];
  readonly integer: number;
  readonly amount: number;
  readonly budgets: readonly KeyBudget[];
  readonly text: string;
  readonly flag: boolean;
  readonly rules: NameRules;
  readonly session: { readonly budgets: readonly KeyBudget[] };
  readonly word: Unpriced;
}

/** What a key may use. A limit that is absent is not set. */
export type KeyLimitValues = {
  readonly [Name in KeyLimitName]?: LimitKinds[(typeof KEY_LIMITS)[Name]['kind']] | undefined;
};

/** The members with their names, in their order. */
export const KEY_MEMBER_LIST: readonly (readonly [name: KeyMemberName, member: MemberFacts])[] =
  Object.entries<MemberFacts>(KEY_MEMBERS) as [KeyMemberName, MemberFacts][];
export const KEY_LIMIT_LIST: readonly (readonly [name: KeyLimitName, limit: LimitFacts])[] = Object.entries<LimitFacts>(
  KEY_LIMITS,
) as [KeyLimitName, LimitFacts][];
