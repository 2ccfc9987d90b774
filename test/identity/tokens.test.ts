import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { exportSPKI, importJWK, type CryptoKey } from 'jose';
import { as, refusal, startAdmin, type AdminHost } from '../admin/kit.ts';
import { type Answer, ask, cases, Dice, fakeClock, MASTER_KEY } from '../kit/index.ts';
import { issuerConfig, makeKey, stubIssuer, type StubIssuer, withIssuers } from './issuer.ts';

const NOW = 1_700_000_000_000;
const INVALID = 'the API key is not valid';

interface Place {
  readonly t: AdminHost;
  readonly issuer: StubIssuer;
  readonly clock: ReturnType<typeof fakeClock>;
  readonly get: (token: string, path?: string) => Promise<Answer>;
}

async function start(more: object = {}, algorithm = 'ES256'): Promise<Place> {
  const clock = fakeClock(NOW);
  const issuer = await stubIssuer(clock.now, algorithm);
  const t = await startAdmin({ clock }, withIssuers(issuerConfig(issuer, more)));
  return { t, issuer, clock, get: (token, path = '/v1/models') => t.get(path, as(token)) };
}

/** How checks of tokens ended, in their order. */
const results = ({ t }: Place): string[] =>
  t.samples
    .filter(({ name }) => name === 'gateway_identity_verifications_total')
    .map(({ labels }) => String(labels['result']));

const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('a token of an issuer', () => {
  it('is a credential with the scopes, the account and the limits of the first rule that matches', async () => {
    const place = await start({
      access: [
        { when: { groups: 'admins' }, scopes: ['admin'] },
        { when: { groups: 'viewers' }, scopes: ['read_only'] },
        { when: { groups: 'team-*' }, access: 'inference', account: '/acme/$1', limits: { rpm: 3, models: ['echo'] } },
      ],
    });
    const { t, issuer, get } = place;
    const tokens = {
      admin: await issuer.token({ groups: ['x', 'admins'] }),
      viewer: await issuer.token({ groups: 'viewers', sub: 'bob' }),
      team: await issuer.token({ sub: 'eve', preferred_username: 'Eve\u202e E' }),
    };
    const table: Record<string, number[]> = {};
    for (const [name, token] of Object.entries(tokens))
      table[name] = [
        (await get(token)).status,
        (await get(token, '/admin/keys')).status,
        (await t.post('/admin/keys', {}, as(token))).status,
        (await get(token, '/metrics')).status,
      ];
    expect(table).to.deep.equal({
      admin: [200, 200, 400, 200],
      viewer: [200, 200, 403, 200],
      team: [200, 403, 403, 403],
    });
    const own = (await get(tokens.team, '/v1/key')).json();
    expect(own).to.deep.include({
      kind: 'identity',
      name: 'Eve E',
      access: 'inference',
      issuer: 'corp',
      account: '/acme/search',
      models: ['echo'],
      expires_at: '2023-11-14T22:23:20Z',
    });
    expect(own.id).to.match(/^oidc:[0-9a-f]{32}$/);
    const other = await issuer.token({ sub: 'eve', jti: 'another' });
    expect((await t.post('/v1/chat/completions', { ...ask(), model: 'echo' }, as(other))).status).to.equal(200);
    expect(refusal(await get(other)), 'all of its tokens together').to.deep.equal([429, 'rate_limit_exceeded']);
    expect((await get(await issuer.token({ sub: 'eve', groups: 'x' }))).json().error).to.deep.include({
      code: 'insufficient_scope',
      message: 'this account may not use this gateway',
    });
    expect(t.lines.filter(({ msg }) => msg === 'identity has no access')).to.have.length(1);
    expect(new Set(results(place))).to.deep.equal(new Set(['ok', 'no_access']));
    expect(t.texts.join('\n')).to.not.include(tokens.team);
  });

  it('is the actor of what it does', async () => {
    const { t, issuer } = await start();
    const token = await issuer.token({ groups: ['admins'], name: 'Ada Lovelace' });
    expect((await t.post('/admin/keys', { name: 'k' }, as(token))).status).to.equal(201);
    const [row] = await t.trail('&action=key.create');
    const { id } = (await t.get('/v1/key', as(token))).json();
    expect(row).to.include({ actor: `Ada Lovelace (${id})`, actor_id: id });
    expect((await t.post('/admin/keys', { name: 'k' }, as(await issuer.token({ groups: 'viewers' })))).status).to.equal(
      403,
    );
  });

  it('stands wherever a key stands, but in no address, and opens no session', async () => {
    const { t, issuer } = await start();
    const token = await issuer.token({ groups: ['admins'] });
    const status = async (path: string, headers: Record<string, string>): Promise<number> =>
      (await t.get(path, { authorization: '', ...headers })).status;
    expect(await status('/v1/models', { authorization: `bearer ${token}` })).to.equal(200);
    expect(await status('/v1beta/models', { 'x-goog-api-key': token })).to.equal(200);
    expect(await status('/v1/models', { 'x-api-key': token, 'anthropic-version': '2023-06-01' })).to.equal(200);
    expect(await status(`/v1beta/models?key=${token}`, {})).to.equal(401);
    expect(await status(`/v1beta/models?key=${MASTER_KEY}`, {})).to.equal(200);
    expect(t.texts.join('\n')).to.not.include(token);
    const asked = issuer.asked.length;
    const answer = await t.request('POST', '/admin/session', undefined, as(await issuer.token({ groups: 'admins' })));
    expect(refusal(answer)).to.deep.equal([401, 'invalid_api_key']);
    expect(issuer.asked).to.have.length(asked);
    expect((await t.trail('&action=session.create'))[0]).to.include({ outcome: 'denied' });
  });

  it('is refused for each thing that is wrong with it, always in the same words', async () => {
    const place = await start({ clock_skew: '30s', bearer: { audiences: ['gw', 'gw2'], max_age: '1h' } });
    const { issuer, get } = place;
    const at = NOW / 1000;
    const foreign = await makeKey('ES256', issuer.key.kid);
    const other = await makeKey('ES256', 'not-published');
    const plain = async (header: object, claims: object = {}): Promise<string> =>
      [base64(header), (await issuer.token(claims)).split('.')[1], 'AAAA'].join('.');
    const es = { alg: 'ES256', kid: issuer.key.kid };
    const publicText = await exportSPKI((await importJWK(issuer.key.jwk, 'ES256')) as CryptoKey);
    const signing = `${base64({ alg: 'HS256' })}.${(await issuer.token()).split('.')[1]}`;
    const sealed = `${signing}.${createHmac('sha256', publicText).update(signing).digest('base64url')}`;
    const bad: readonly (readonly [expected: string, token: string])[] = [
      ['malformed', `eyJ${'a'.repeat(16_384)}.b.c`],
      ['malformed', 'eyJ.e.e'],
      ['malformed', `${await issuer.token()}=`],
      ['malformed', `${base64([1])}.${base64({})}.AAAA`],
      ['algorithm', await plain({ alg: 'none' })],
      ['algorithm', await plain({ alg: 'None' })],
      ['algorithm', sealed],
      ['algorithm', await plain({ alg: 'ES384' })],
      ['algorithm', await plain({})],
      ['algorithm', await issuer.token({}, { header: { typ: 'logout+jwt' } })],
      ['algorithm', await plain({ ...es, crit: ['b64'] })],
      ['issuer', await issuer.token({ iss: 'https://other.example' })],
      ['issuer', await issuer.token({ iss: `${issuer.url}/` })],
      ['issuer', await issuer.token({ iss: [issuer.url] })],
      ['audience', await issuer.token({ aud: 'other' })],
      ['audience', await issuer.token({ aud: [] })],
      ['audience', await issuer.token({ aud: 7 })],
      ['audience', await issuer.token({ aud: undefined })],
      ['expired', await issuer.token({ exp: at - 30 })],
      ['time', await issuer.token({ exp: undefined })],
      ['time', await plain(es, { exp: String(at + 60) })],
      ['time', await issuer.token({ iat: at + 31 })],
      ['time', await issuer.token({ nbf: at + 31 })],
      ['expired', await issuer.token({ iat: at - 3630, exp: at + 60 })],
      ['time', await plain(es, { iat: -1 })],
      ['key', await issuer.token({}, { key: other })],
      ['key', await plain({ alg: 'ES256', kid: 7 })],
      ['signature', await issuer.token({}, { key: foreign })],
      ['signature', await plain({ alg: 'ES256', kid: issuer.key.kid })],
      ['claims', await issuer.token({ sub: '' })],
      ['claims', await issuer.token({ sub: 7 as never })],
      ['claims', await issuer.token({ groups: Array.from({ length: 2001 }, () => '1') })],
    ];
    for (const [expected, token] of bad) {
      const answer = await get(token);
      expect([answer.status, answer.json().error.message, results(place).at(-1)], expected).to.deep.equal([
        401,
        INVALID,
        expected,
      ]);
    }
    const good = [
      { exp: at - 29 },
      { iat: at + 30 },
      { nbf: at + 30 },
      { iat: at - 3629, exp: at + 60 },
      { aud: ['x', 'gw2'] },
      { sub: 's'.repeat(255) },
    ];
    for (const claims of good)
      expect((await get(await issuer.token(claims))).status, JSON.stringify(claims)).to.equal(200);
    for (const typ of ['JWT', 'at+jwt', 'AT+JWT', 'application/at+jwt'])
      expect((await get(await issuer.token({}, { header: { typ } }))).status, typ).to.equal(200);
  });

  it('with one byte changed is none', async () => {
    const { issuer, get, clock } = await start();
    const token = await issuer.token();
    for (let seed = 1; seed <= cases(2000, 40); seed += 1) {
      clock.advance(1000); // so that the limit on bad signatures has nothing to say
      const dice = new Dice(seed);
      const place = dice.below(token.length);
      const letter = dice.pick(Array.from('ABCabc019-_.').filter((each) => each !== token[place]));
      const changed = token.slice(0, place) + letter + token.slice(place + 1);
      expect((await get(changed)).status, `${seed} ${place}`).to.equal(401);
    }
    expect((await get(token)).status).to.equal(200);
  });

  it('counts by each algorithm that is listed, and by no other', async () => {
    for (const algorithm of ['RS256', 'PS256', 'EdDSA', 'ES384']) {
      const { issuer, get } = await start({ algorithms: [algorithm] }, algorithm);
      delete issuer.key.jwk.alg;
      expect((await get(await issuer.token())).status, algorithm).to.equal(200);
      if (algorithm === 'RS256')
        expect(
          (await get(await issuer.token({ n: 1 }, { header: { alg: 'PS256' } }).catch(() => 'eyJ.e.e'))).status,
        ).to.equal(401);
    }
  });

  it('is kept for five minutes, and never beyond its own time', async () => {
    const { issuer, get, clock, t } = await start();
    const token = await issuer.token({ exp: NOW / 1000 + 400 });
    expect((await get(token)).status).to.equal(200);
    issuer.keys = [(await makeKey('ES256', 'new')).jwk];
    const checks = (): number => t.samples.filter(({ name }) => name === 'gateway_identity_verifications_total').length;
    clock.advance(299_000);
    expect([(await get(token)).status, checks()]).to.deep.equal([200, 1]);
    clock.advance(130_000);
    expect([(await get(token)).status, checks()]).to.deep.equal([200, 2]);
    clock.advance(1000);
    expect((await get(token)).status, 'its own end, with the skew').to.equal(401);
  });

  it('is limited where its signature is wrong, for each address, and a good one is not', async () => {
    const { issuer, get, clock } = await start();
    const foreign = await makeKey('ES256', issuer.key.kid);
    const good = await issuer.token();
    expect((await get(good)).status).to.equal(200);
    for (let count = 0; count < 50; count += 1)
      expect((await get(await issuer.token({ count }, { key: foreign }))).status).to.equal(401);
    const over = await get(await issuer.token({}, { key: foreign }));
    expect([over.status, over.headers.get('retry-after')]).to.deep.equal([429, '1']);
    expect((await get(good)).status, 'one in memory').to.equal(200);
    clock.advance(200);
    for (let count = 0; count < 3; count += 1)
      expect((await get(await issuer.token({ count }))).status, 'good ones take nothing').to.equal(200);
  });

  it('is a key like any other where no issuer has tokens', async () => {
    const t = await startAdmin();
    expect(refusal(await t.get('/v1/models', as('eyJ.e.e')))).to.deep.equal([401, 'invalid_api_key']);
    expect(t.samples.filter(({ name }) => name.startsWith('gateway_identity'))).to.deep.equal([]);
    expect((await t.get('/admin/identity')).json()).to.deep.equal({ source: null, digest: null, identity: null });
    expect((await t.get('/admin/health')).json()).to.not.have.property('identity');
  });

  it('stands behind no key that another header has', async () => {
    const { t, issuer } = await start();
    const { key } = await t.makeKey();
    const bad = await issuer.token({ aud: 'x' });
    const headers = { authorization: `Bearer ${bad}`, 'x-api-key': key, 'anthropic-version': '2023-06-01' };
    expect((await t.get('/v1/models', headers)).status).to.equal(200);
  });
});
