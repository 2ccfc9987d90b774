import type { BadDocument } from './bad-documents.ts';

/** The smallest issuer, and more. */
export const issuer = (more: object = {}): object => ({
  name: 'corp',
  issuer: 'https://login.acme.example',
  bearer: { audiences: ['gw'] },
  access: [{ when: { groups: 'team' }, access: 'inference' }],
  ...more,
});

const identity = (...issuers: object[]): object => ({ targets: [{ virtual_key: 'echo' }], identity: { issuers } });
const withRules = (access: readonly object[], more: object = {}): object => identity(issuer({ access, ...more }));
const when = { groups: 'team' };
const at = (...places: string[]): string[] => places.map((place) => `identity.issuers[0]${place}`);

/** Addresses that no issuer may have. */
const BAD_ADDRESSES = [
  'http://login.acme.example',
  'https://me@login.acme.example',
  'https://login.acme.example?a=1',
  'https://login.acme.example#a',
  'https://login.acme.example?',
  'ftp://login.acme.example',
  'http://127.0.0.1.acme.example',
  'login.acme.example',
  '',
  'https://login.microsoftonline.com/common/v2.0',
  'https://login.microsoftonline.com/{tenantid}/v2.0',
];

/** Documents that break the rules on `identity`. */
export const BAD_IDENTITY: Readonly<Record<string, readonly BadDocument[]>> = {
  CV91: [
    { document: identity(), at: ['identity.issuers'], says: ['no issuer'] },
    {
      document: identity(
        ...Array.from({ length: 17 }, (_, index) => issuer({ name: `i${index}`, issuer: `https://i${index}.example` })),
      ),
      at: ['identity.issuers'],
      says: ['17 issuers', '16'],
    },
    {
      document: identity(
        ...['', 'Corp', '-corp', 'c'.repeat(33), 'c_d'].map((name, index) =>
          issuer({ name, issuer: `https://i${index}.example` }),
        ),
      ),
      at: [0, 1, 2, 3, 4].map((index) => `identity.issuers[${index}].name`),
      says: ['has no name', '"Corp"', '"-corp"', '"c_d"'],
    },
    {
      document: identity(...BAD_ADDRESSES.map((url, index) => issuer({ name: `i${index}`, issuer: url }))),
      at: BAD_ADDRESSES.map((_, index) => `identity.issuers[${index}].issuer`),
      says: ['cannot be used', 'is missing', 'many tenants'],
    },
    {
      document: identity(issuer(), issuer()),
      at: ['identity.issuers[1].name', 'identity.issuers[1].issuer'],
      says: ['issuers[0] has the name "corp" too'],
    },
    {
      document: identity(issuer({ label: 'l'.repeat(41) })),
      at: at('.label'),
      says: ['cannot stand on a button'],
    },
    { document: identity(issuer({ jwks_url: 'https://login.acme.example' })), at: at('.jwks_url'), says: ['keys'] },
    { document: identity(issuer({ bearer: null })), at: at(''), says: ['nothing is allowed'] },
  ],
  CV93: [
    {
      document: identity(issuer({ sign_in: {} })),
      at: at('.sign_in.client_id'),
      says: ['is missing'],
    },
    {
      document: identity(
        ...['a-secret', 'x${SECRET}', '${A}${B}', '${file:relative}'].map((client_secret, index) =>
          issuer({
            name: `i${index}`,
            issuer: `https://i${index}.example`,
            sign_in: { client_id: 'c', client_secret },
          }),
        ),
      ),
      at: [0, 1, 2, 3].map((index) => `identity.issuers[${index}].sign_in.client_secret`),
      says: ['not one reference'],
    },
    {
      document: identity(
        ...[['profile'], ['openid', 'offline_access'], ['openid', 'a b'], []].map((scopes, index) =>
          issuer({ name: `i${index}`, issuer: `https://i${index}.example`, sign_in: { client_id: 'c', scopes } }),
        ),
      ),
      at: [0, 1, 2, 3].map((index) => `identity.issuers[${index}].sign_in.scopes`),
      says: ['cannot be asked for'],
    },
  ],
  CV92: [
    {
      document: identity(issuer({ sign_in: { client_id: 'c', max_session: '4m' } })),
      at: at('.sign_in.max_session'),
      says: ['"4m"'],
    },
    {
      document: identity(issuer({ algorithms: ['RS256', 'HS256', 'none'] })),
      at: at('.algorithms[1]', '.algorithms[2]'),
      says: ['"HS256"', '"none"'],
    },
    { document: identity(issuer({ algorithms: [] })), at: at('.algorithms'), says: ['no algorithm'] },
    {
      document: identity(
        issuer({ clock_skew: '6m', max_stale: '169h', bearer: { audiences: ['gw'], max_age: '59s' } }),
      ),
      at: at('.clock_skew', '.max_stale', '.bearer.max_age'),
      says: ['"6m"', '"169h"', '"59s"'],
    },
    { document: identity(issuer({ clock_skew: '-1s' })), at: at('.clock_skew'), says: ['"-1s"'] },
  ],
  CV94: [
    { document: identity(issuer({ bearer: {} })), at: at('.bearer.audiences'), says: ['no audience'] },
    {
      document: identity(issuer({ bearer: { audiences: Array.from({ length: 11 }, (_, index) => `a${index}`) } })),
      at: at('.bearer.audiences'),
      says: ['11 audiences', '10'],
    },
    {
      document: identity(issuer({ sign_in: { client_id: 'gw' } })),
      at: at('.bearer.audiences[0]'),
      says: ['client of sign_in'],
    },
    {
      document: identity(issuer({ sign_in: { client_id: 'c' }, jwks_url: 'https://login.acme.example/keys' })),
      at: at('.jwks_url'),
      says: ['have metadata'],
    },
    { document: identity(issuer({ bearer: { audiences: [''] } })), at: at('.bearer.audiences[0]'), says: ['empty'] },
  ],
  CV95: [
    { document: withRules([]), at: at('.access'), says: ['no rule'] },
    {
      document: withRules(Array.from({ length: 201 }, () => ({ when, access: 'inference' }))),
      at: at('.access'),
      says: ['201 rules', '200'],
    },
    {
      document: withRules([{ access: 'inference' }, { when: {}, access: 'inference' }]),
      at: at('.access[0].when', '.access[1].when'),
      says: ['for everybody'],
    },
    {
      document: withRules(
        [true, [], [['a']], '', ['a', ''], { a: 'b' }, 1.5].map((groups) => ({
          when: { groups },
          access: 'inference',
        })),
      ),
      at: at(...[0, 1, 2, 3, 4, 5, 6].map((rule) => `.access[${rule}].when.groups`)),
      says: ['neither a text nor a list of texts'],
    },
    {
      document: withRules(['*', 'a*b', '*a', 'a**'].map((groups) => ({ when: { groups }, access: 'inference' }))),
      at: at(...[0, 1, 2, 3].map((rule) => `.access[${rule}].when.groups`)),
      says: ['"*"', '"a*b"', '"*a"', '"a**"'],
    },
    {
      document: withRules([
        { when, access: 'inference', account: '/a/$1' },
        { when: { groups: 'a-*', teams: 'b-*' }, access: 'inference', account: '/a/$1' },
      ]),
      at: at('.access[0].account', '.access[1].account'),
      says: ['$1 stands for the * of one claim'],
      fix: 'exactly one claim',
    },
  ],
  CV96: [
    {
      document: withRules([
        { when },
        { when, access: 'inference', scopes: ['admin'] },
        { when, scopes: [] },
        { when, scopes: ['admin', 'read_only'] },
        { when, scopes: ['root'] },
        { when, access: 'full' },
      ]),
      at: at(
        '.access[0]',
        '.access[1]',
        '.access[2].scopes',
        '.access[3].scopes',
        '.access[4].scopes',
        '.access[5].access',
      ),
      says: ['either scopes or access', 'not [admin] or [read_only]', 'access is "full"'],
    },
  ],
  CV97: [
    {
      document: identity(
        ...['email', 'preferred_username', 'upn', 'unique_name', 'name', 'nickname'].map((subject, index) =>
          issuer({ name: `i${index}`, issuer: `https://i${index}.example`, claims: { subject } }),
        ),
      ),
      at: [0, 1, 2, 3, 4, 5].map((index) => `identity.issuers[${index}].claims.subject`),
      says: ['"email"'],
    },
  ],
  CV98: [
    {
      document: withRules(
        [
          { when: { ref: 'refs/heads/main' }, access: 'inference' },
          { when: { sub: 'repo:acme/*' }, access: 'inference' },
          { when: { repository: 'acme/app' }, access: 'inference' },
        ],
        { issuer: 'https://token.actions.githubusercontent.com' },
      ),
      at: at('.access[0].when', '.access[1].when'),
      says: ['does not say whose count'],
      fix: 'repository_owner',
    },
    {
      document: withRules([{ when: { email_verified: 'true' }, access: 'inference' }], {
        issuer: 'https://accounts.google.com',
      }),
      at: at('.access[0].when'),
      says: ['everybody can get a token'],
      fix: 'hd',
    },
  ],
  CV99: [
    {
      document: withRules([
        { when, access: 'inference', account: 'acme' },
        { when, access: 'inference', account: '#tag' },
        { when, access: 'inference', account: '/a b' },
      ]),
      at: at('.access[0].account', '.access[1].account', '.access[2].account'),
      says: ['"acme"', '"#tag"'],
    },
    {
      document: withRules([
        {
          when,
          access: 'inference',
          limits: { models: [' '], rpm: 0, tpm: -1, budget_usd: -1, tags: [''] },
        },
        { when, access: 'inference', limits: { budget_usd: 0.0000001 } },
      ]),
      at: at(
        '.access[0].limits.models',
        '.access[0].limits.rpm',
        '.access[0].limits.tpm',
        '.access[0].limits.budget_usd',
        '.access[0].limits.tags',
        '.access[1].limits.budget_usd',
      ),
      says: ['rpm is 0'],
    },
  ],
};
