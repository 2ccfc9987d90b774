import Joi from 'joi';
import { ACCOUNT_MEMBERS, type AccountMemberName } from '../../common/accounts/account-members.ts';
import { always, block, decimal, decimalItem, entry, flag, integer, list, text, textItem } from './schema-fields.ts';
import { shown } from './showing.ts';

const NAME = shown({ as: 'name' });
const KEPT = shown({ isKept: true });
const NAMES = 'each exact, or a beginning and `*`';

/** What a member means; the first letter is small, as everywhere in this list. */
const about = (name: AccountMemberName): string => {
  const text = ACCOUNT_MEMBERS[name].about;
  return text.charAt(0).toLowerCase() + text.slice(1);
};

/** A day of the week, or of the month, which is a number. */
const day = Joi.any<string | number | undefined>()
  .custom((value: unknown, helpers) =>
    typeof value === 'string' || typeof value === 'number' ? value : helpers.error('string.base'),
  )
  .empty(null)
  .meta({ kind: 'text', wording: { otherwiseSaid: '`mon`; 1', bounds: '`mon` to `sun`; 1 to 31', orInteger: true } })
  .description('the day on which a week or a month begins');

const budget = entry({
  usd: decimal('US dollars that may be spent in a window', {
    min: 0,
    max: 1e9,
    bounds: 'at most six decimals; exactly one of `usd`, `tokens`, `requests`',
  }).meta(KEPT),
  tokens: integer('tokens that may be used in a window', { min: 0 }).meta(KEPT),
  requests: integer('requests that may be made in a window', { min: 0 }).meta(KEPT),
  every: text('how long a window is', {
    otherwise: 'total',
    bounds: '`day`, `week`, `month`, `total`, or a duration of whole minutes from `1m` to `87600h`',
  }),
  at: text('the time of day at which a day, week or month begins', { otherwise: '00:00', bounds: '`HH:MM`' }),
  on: day,
  timezone: text('whose clocks `at` and `on` mean', {
    otherwiseSaid: '`money.timezone`',
    bounds: 'name of a time zone, such as `Europe/Berlin`',
  }),
  from: text('where durations are counted from', {
    otherwise: '1970-01-01T00:00:00Z',
    bounds: 'RFC 3339, in whole seconds',
  }),
  reserve_tokens: integer('completion tokens to reserve for a request without a ceiling', {
    otherwiseSaid: 'what the model can answer, up to 4,096',
    min: 0,
  }).meta(KEPT),
  models: list('models that it counts', textItem.meta(NAME), { otherwiseSaid: 'all', bounds: NAMES }),
  warn: list('shares of the limit at which a line of the log warns', decimalItem.meta(KEPT), {
    otherwiseSaid: 'none',
    bounds: 'at most 5, ascending, above 0, up to 1',
  }),
  overrun: text('whether the call that crosses the limit is served, or only what fits whole', {
    otherwise: 'one',
    values: ['one', 'none'],
  }),
  over: block('what is used beyond the limit, in place of a refusal', {
    use: text('a model, an alias or a group of models', { isRequired: true }).meta(NAME),
    more: decimal('how much more it may spend, in the unit of the budget', { isRequired: true, min: 0 }).meta(KEPT),
  }),
});

const rules = (name: AccountMemberName) =>
  block(about(name), {
    allow: list('what is allowed; an empty list allows nothing', textItem.meta(NAME), {
      otherwiseSaid: 'all',
      bounds: NAMES,
    }).meta(KEPT),
    deny: list('what is denied, whatever is allowed', textItem.meta(NAME), { otherwiseSaid: 'none', bounds: NAMES }),
  });

const limits = {
  budgets: list(about('budgets'), budget, { bounds: 'at most 16' }).meta(KEPT),
  rpm: integer(about('rpm'), { min: 1, max: ACCOUNT_MEMBERS.rpm.most }),
  tpm: integer(about('tpm'), { min: 1, max: ACCOUNT_MEMBERS.tpm.most }),
  max_parallel: integer(about('max_parallel'), { min: 1, max: ACCOUNT_MEMBERS.max_parallel.most }),
  models: rules('models'),
  providers: rules('providers'),
  unpriced: text(about('unpriced'), {
    otherwiseSaid: '`money.unpriced`, or `refuse`, where `budgets` hold dollars',
    values: ACCOUNT_MEMBERS.unpriced.words,
  }),
  required_tags: list(about('required_tags'), textItem.meta(NAME), { bounds: 'at most 10, without `#`; of accounts' }),
  session: block(about('session'), {
    budgets: list('as `budgets` of the account', budget, { isRequired: true, bounds: 'at most 16' }).meta(KEPT),
  }),
};

/** One entry of `accounts`. */
export const account = entry({
  path: always(
    text('path of an account, or `#` and the name of a tag, with `*` at its end for each name that begins so', {
      isRequired: true,
      bounds: 'each once, see [accounts.md](reference/accounts.md#paths)',
    }).meta(NAME),
    '',
  ),
  title: text(about('title'), { bounds: 'at most 256 characters' }),
  blocked: flag(about('blocked'), { otherwise: false }),
  ...limits,
  brought_by: text(about('brought_by'), {
    values: ACCOUNT_MEMBERS.brought_by.words,
    otherwise: 'key',
    bounds: 'of tags',
  }),
  child_default: block(about('child_default'), limits, { otherwiseSaid: 'nothing; of accounts' }),
});
