import { expect } from 'chai';
import { Seal } from '../../builtins/identity/seal.ts';
import { as, refusal, startAdmin, type AdminHost } from '../admin/kit.ts';
import { type Answer, cases, Dice, MASTER_KEY } from '../kit/index.ts';
import { issuerConfig, makeKey, stubIssuer, type StubIssuer, withIssuers } from './issuer.ts';

const PUBLIC = 'http://127.0.0.1:8080';
const SIGN_IN = { client_id: 'client', client_secret: '${TEST_SECRET}' };

interface Begun {
  readonly transaction: string;
  readonly url: URL;
}

interface Place {
  readonly t: AdminHost;
  readonly issuer: StubIssuer;
  readonly begin: (name?: string) => Promise<Begun>;
  /** Completes it; the ID token has these claims, and the right nonce unless they have one. */
  readonly finish: (begun: Begun, claims?: object, response?: string, more?: object) => Promise<Answer>;
}

async function start(more: object = {}, variables: Record<string, string> = {}): Promise<Place> {
  const issuer = await stubIssuer();
  const t = await startAdmin(
    { variables: { GW_PUBLIC_URL: PUBLIC, TEST_SECRET: 'a-client-secret', ...variables } },
    withIssuers(issuerConfig(issuer, { label: 'Acme', sign_in: SIGN_IN, ...more })),
  );
  let calls = 0;
  /** Each call of another client, so that the limit of attempts has nothing to say. */
  const from = (): Record<string, string> => ({ authorization: '', 'x-forwarded-for': `192.0.2.${(calls += 1)}` });
  const begin = async (name = 'corp'): Promise<Begun> => {
    const answer = await t.post(`/identity/${name}/start`, {}, from());
    expect(answer.status, answer.text).to.equal(200);
    return { transaction: answer.json().transaction, url: new URL(answer.json().authorization_url) };
  };
  const finish: Place['finish'] = async ({ transaction, url }, claims = {}, response, header = {}) => {
    const nonce = url.searchParams.get('nonce');
    issuer.idToken = () => issuer.token({ aud: 'client', groups: ['admins'], nonce, ...claims }, header);
    const query = response ?? `code=abc&state=${url.searchParams.get('state')}`;
    return t.post('/identity/corp/finish', { transaction, response: query }, from());
  };
  return { t, issuer, begin, finish };
}

const reasons = async (t: AdminHost): Promise<unknown[]> =>
  (await t.trail('&action=session.create')).map(({ detail }) => (JSON.parse(detail) as { reason?: string }).reason);

describe('signing in with an issuer', () => {
  it('is a session of the person, with the rights of the rule, whom the trail names', async () => {
    const { t, begin, finish } = await start();
    expect((await t.get('/identity', { authorization: '' })).json()).to.deep.equal({
      issuers: [{ name: 'corp', label: 'Acme' }],
    });
    const begun = await begin();
    expect(begun.url.searchParams.get('redirect_uri')).to.equal(`${PUBLIC}/login/corp`);
    expect(begun.url.searchParams.get('code_challenge_method')).to.equal('S256');
    const answer = await finish(begun, { name: 'Ada Lovelace' });
    expect(answer.status, answer.text).to.equal(201);
    expect(answer.headers.get('set-cookie')).to.equal(null);
    expect(answer.headers.get('cache-control')).to.equal('no-store');
    const { token, subject, scopes } = answer.json();
    expect([subject, scopes, token.slice(0, 4)]).to.deep.equal(['Ada Lovelace', ['admin'], 'gws_']);
    expect((await t.post('/admin/keys', { name: 'k' }, as(token))).status).to.equal(201);
    const own = (await t.get('/v1/key', as(token))).json();
    expect(own).to.include({ kind: 'session', issuer: 'corp', access: 'full' });
    const [made] = await t.trail('&action=key.create');
    expect(made).to.include({ actor: `Ada Lovelace (${own.id})`, actor_id: own.id });
    const [row] = await t.trail('&action=session.create');
    expect(row).to.include({ outcome: 'ok', target_id: own.id, actor_id: own.id });
    expect(JSON.parse(row!['detail'])).to.deep.equal({ subject: 'Ada Lovelace', issuer: 'corp', rule: 1 });
    expect((await t.get('/admin/sessions')).json().data).to.have.length(1);
    expect((await t.request('DELETE', '/admin/session', undefined, as(token))).status).to.equal(204);
    expect((await t.get('/admin/keys', as(token))).status).to.equal(401);
    expect(t.texts.join('\n')).to.not.match(/a-client-secret|an-access-token|code=abc/);
  });

  it('counts once, in its time, from its own tab and issuer, and never for an ID token that is not ours', async () => {
    const place = await start();
    const { t, issuer, begin, finish } = place;
    const used = await begin();
    expect((await finish(used)).status).to.equal(201);
    const other = await begin();
    const state = other.url.searchParams.get('state');
    const foreign = await makeKey('ES256', issuer.key.kid);
    const another =
      (claims: object, header: object = {}) =>
      async (): Promise<Answer> =>
        finish(await begin(), claims, undefined, header);
    const answered = (response: string) => async (): Promise<Answer> => {
      const begun = await begin();
      return finish(begun, {}, response.replace('STATE', begun.url.searchParams.get('state') ?? ''));
    };
    const bad: readonly (readonly [reason: string, what: () => Promise<Answer>])[] = [
      ['transaction', () => finish(used)],
      ['transaction', () => finish({ ...other, transaction: `${other.transaction.slice(0, -4)}AAAA` })],
      ['transaction', () => finish({ ...other, transaction: new Seal('another').close({} as never) })],
      ['state', answered('code=abc&state=other')],
      ['state', answered('code=abc')],
      ['state', answered(`code=abc&state=${state}`)],
      ['issuer', answered('code=abc&state=STATE&iss=https://other.example')],
      ['provider_error', answered('error=access_denied&error_description=secret+words&state=STATE')],
      ['token', another({ nonce: 'other' })],
      ['token', another({ nonce: undefined })],
      ['token', another({ aud: 'gw' })],
      ['token', another({ aud: ['client', 'x'] })],
      ['token', another({ aud: ['client', 'x'], azp: 'x' })],
      ['token', another({ iss: 'https://other.example' })],
      ['token', another({ exp: Math.floor(Date.now() / 1000) - 100 })],
      ['token', another({}, { key: foreign })],
      ['no_access', another({ groups: ['others'] })],
      ['no_access', another({ groups: ['team-a'] })],
    ];
    for (const [reason, act] of bad) {
      const answer = await act();
      const isKnown = reason === 'no_access';
      expect([answer.status, answer.json().error.code, (await reasons(t))[0]], reason).to.deep.equal([
        isKnown ? 403 : 401,
        isKnown ? 'insufficient_scope' : 'sign_in_failed',
        reason,
      ]);
      expect(answer.text).to.not.include('secret words');
    }
    expect((await t.get('/admin/sessions')).json().data).to.have.length(1);
    expect(t.lines.find(({ provider_error: error }) => error === 'access_denied')).to.include({
      msg: 'sign-in failed',
      reason: 'provider_error',
    });
  }).timeout(60_000);

  it('is 503 while the issuer, or its token endpoint, is away, and a key signs in all the same', async () => {
    const { t, issuer, begin, finish } = await start();
    const begun = await begin();
    issuer.answering = (path) => (path === '/token' ? { status: 500 } : undefined);
    expect(refusal(await finish(begun))).to.deep.equal([503, 'identity_unavailable']);
    const [row] = await t.trail('&action=session.create');
    expect(row).to.include({ outcome: 'error', target_id: '*' });
    expect((await t.signIn(MASTER_KEY)).token).to.match(/^gws_/);
  });

  it('narrows and ends older sessions by what the newest sign-in said', async () => {
    const { t, begin, finish } = await start();
    const first = (await finish(await begin())).json().token;
    expect((await t.get('/admin/keys', as(first))).status).to.equal(200);
    const second = (await finish(await begin(), { groups: ['viewers'] })).json();
    expect(second.scopes).to.deep.equal(['read_only']);
    expect((await t.post('/admin/keys', { name: 'k' }, as(first))).status).to.equal(403);
    expect((await t.get('/admin/keys', as(first))).status).to.equal(200);
  });

  it('is over with a block, at once, and possible again without it', async () => {
    const { t, issuer, begin, finish } = await start();
    const { token } = (await finish(await begin())).json();
    const { id } = (await t.get('/v1/key', as(token))).json();
    const bearer = await issuer.token({ groups: ['admins'] });
    expect((await t.get('/v1/models', as(bearer))).status).to.equal(200);
    expect(refusal(await t.post(`/admin/identities/${id}/block`, {}, as(token)))).to.deep.equal([
      409,
      'self_mutation_forbidden',
    ]);
    const blocked = (await t.post(`/admin/identities/${id}/block`, {})).json();
    expect(blocked).to.include({ id, issuer: 'corp', subject: 'ada' });
    expect((await t.get('/v1/models', as(token))).status).to.equal(401);
    expect(refusal(await t.get('/v1/models', as(bearer)))).to.deep.equal([403, 'insufficient_scope']);
    expect(refusal(await finish(await begin()))).to.deep.equal([403, 'insufficient_scope']);
    expect((await reasons(t))[0]).to.equal('blocked');
    expect((await t.get('/admin/identities?blocked=true')).json().summary.total_entries).to.equal(1);
    expect((await t.post(`/admin/identities/${id}/unblock`, {})).json()).to.not.have.property('blocked_at');
    expect((await t.get('/v1/models', as(token))).status).to.equal(200);
    expect((await t.get('/v1/models', as(bearer))).status).to.equal(200);
    const actions = (await t.trail('&outcome=ok')).map(({ action }) => action);
    expect(actions).to.include.members(['identity.block', 'identity.unblock']);
    expect(refusal(await t.post('/admin/identities/oidc:nonsense/block', {}))).to.deep.equal([
      404,
      'resource_not_found',
    ]);
  });

  it('asks for what it needs, and says what is wrong with it', async () => {
    const { t } = await start();
    const none = { authorization: '' };
    const post = async (path: string, body: unknown): Promise<[number, string]> =>
      refusal(await t.post(path, body, none));
    expect(await post('/identity/other/start', {})).to.deep.equal([404, 'resource_not_found']);
    expect(await post('/identity/corp/start', { prompt: 'none' })).to.deep.equal([400, 'invalid_request']);
    expect(await post('/identity/corp/finish', {})).to.deep.equal([400, 'invalid_request']);
    expect(await post('/identity/corp/finish', { transaction: 'x', response: 'a'.repeat(8193) })).to.deep.equal([
      400,
      'invalid_request',
    ]);
    expect(await post('/identity/corp/finish', { transaction: 'x'.repeat(17_000) })).to.deep.equal([
      413,
      'request_too_large',
    ]);
    for (let count = 0; count < 16; count += 1) await t.post('/identity/corp/start', {}, none);
    expect(await post('/identity/corp/finish', {})).to.deep.equal([429, 'rate_limit_exceeded']);
    expect(refusal(await t.request('POST', '/admin/session', undefined, none))).to.deep.equal([
      429,
      'rate_limit_exceeded',
    ]);
  });

  it('opens no box that it did not close', () => {
    const [seal, other] = [new Seal('one'), new Seal('two')];
    const box = seal.close({ id: 'i', issuer: 'x', state: 's', nonce: 'n', verifier: 'v', at: 1 });
    expect(seal.open(box)).to.deep.equal({ id: 'i', issuer: 'x', state: 's', nonce: 'n', verifier: 'v', at: 1 });
    expect(other.open(box)).to.equal(undefined);
    for (let seed = 1; seed <= cases(2000); seed += 1) {
      const dice = new Dice(seed);
      const at = dice.below(box.length);
      const changed = box.slice(0, at) + dice.pick(Array.from('AZaz09-_')) + box.slice(at + 1);
      if (changed !== box) expect(seal.open(changed)).to.equal(undefined);
      expect(seal.open(dice.bytes(dice.below(200)).toString('base64url'))).to.equal(undefined);
    }
  });
});
