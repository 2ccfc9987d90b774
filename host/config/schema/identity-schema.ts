import {
  block,
  decimal,
  duration,
  entry,
  flag,
  freeMap,
  integer,
  list,
  secret,
  text,
  textItem,
} from './schema-fields.ts';
import { shown } from './showing.ts';

const NAME = shown({ as: 'name' });
const URL_BOUNDS = 'https, or http on loopback; no user, query or fragment';

const limits = block('what a request of it may use, as of a key', {
  models: list('ids of models, aliases resolved', textItem.meta(NAME), { otherwiseSaid: 'all' }),
  providers: list('virtual keys of targets', textItem.meta(NAME), { otherwiseSaid: 'all' }),
  mcp_tools: list('names of tools, or `<server>/*`', textItem.meta(NAME), { otherwiseSaid: 'all' }),
  tags: list('tags, see [accounts.md](reference/accounts.md)', textItem.meta(NAME), { otherwiseSaid: 'none' }),
  rpm: integer('requests in a minute, of all tokens and sessions of one identity together', {
    min: 1,
    max: 2 ** 31 - 1,
  }),
  tpm: integer('tokens in a minute, likewise', { min: 1, max: 2 ** 31 - 1 }),
  budget_usd: decimal('US dollars that one identity may spend', { min: 0, max: 1e9 }).meta(shown({ isKept: true })),
});

const rule = entry({
  when: freeMap('claims that must match, all of them: a text, or a list of which one must', {
    isRequired: true,
    bounds: 'at least one claim; exact, or a beginning and `*`',
  }).meta(NAME),
  scopes: list('what it may do on the admin API; exactly one of `scopes`, `access`', textItem, {
    values: ['admin', 'read_only'],
    bounds: 'one',
  }),
  access: text('models alone', { values: ['inference'] }),
  account: text('account that pays; `$1` is what the `*` of `when` stood for', {
    bounds: 'see [accounts.md](reference/accounts.md#paths)',
  }).meta(NAME),
  limits,
});

const signIn = block('people sign in to the dashboard with it', {
  client_id: text('id of this gateway at the issuer', { isRequired: true }),
  client_secret: secret('its secret there', {
    otherwiseSaid: 'a public client',
    bounds: 'one `${NAME}` or `${file:/path}`',
  }),
  scopes: list('what is asked for', textItem, {
    otherwiseSaid: '`openid profile email`',
    bounds: 'with `openid`, without `offline_access`',
  }),
  userinfo: flag('claims that the ID token has not are taken from the userinfo endpoint', { otherwise: false }),
  max_session: duration('longest time of a session; an hour without use ends it as ever', {
    otherwise: '24h',
    bounds: '`5m` to `24h`',
  }),
});

const bearer = block('programs call with tokens of it', {
  audiences: list('a token must be for one of these', textItem, {
    isRequired: true,
    bounds: '1 to 10, not `sign_in.client_id`',
  }),
  max_age: duration('a token counts no longer after it was issued', { otherwise: '24h', bounds: '`1m` to `24h`' }),
});

const issuer = entry({
  name: text('in addresses, rows and figures', { isRequired: true, bounds: 'up to 32 of `a-z0-9-`, each once' }),
  issuer: text('its address, character by character as tokens have it', { isRequired: true, bounds: URL_BOUNDS }),
  label: text('on the button of the sign-in page', { otherwiseSaid: 'the name', bounds: 'up to 40 characters' }),
  jwks_url: text('where its keys are, of an issuer without metadata', {
    otherwiseSaid: "the issuer's metadata say it",
    bounds: URL_BOUNDS,
  }),
  algorithms: list('of signatures', textItem, {
    otherwiseSaid: '`RS256 PS256 ES256 EdDSA`',
    values: ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'],
  }),
  clock_skew: duration('how far its clock may differ', { otherwise: '30s', bounds: '0 to `5m`' }),
  max_stale: duration('how long its keys count while it does not answer', { otherwise: '24h', bounds: '0 to `168h`' }),
  claims: block('which claims say who it is', {
    subject: text('the claim that never changes', {
      otherwise: 'sub',
      bounds: 'no name and no address of a person',
    }),
    name: text('the claim that is shown', { otherwiseSaid: '`preferred_username`, `email`, `name`, the subject' }),
  }),
  sign_in: signIn,
  bearer,
  access: list('who gets what: the first rule that matches; without one, nothing', rule, {
    isRequired: true,
    bounds: '1 to 200',
  }),
});

/** Who may come in with credentials of others. Of the file alone. */
export const identity = block(
  'sign-in with a company account, and tokens of it ([identity.md](identity.md)); in the configuration file alone',
  { issuers: list('issuers of tokens (OpenID providers)', issuer, { isRequired: true, bounds: '1 to 16' }) },
);
