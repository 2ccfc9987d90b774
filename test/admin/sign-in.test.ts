import { expect } from 'chai';
import { type Answer, fakeClock, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, forBackends, NOBODY, refusal } from './kit.ts';

const signIn = (t: AdminHost, credential: string, address = '203.0.113.1'): Promise<Answer> =>
  t.request('POST', '/admin/session', undefined, {
    ...(credential === '' ? NOBODY : as(credential)),
    'x-forwarded-for': address,
  });

forBackends('signing in', (start) => {
  it('needs a key that is good: neither unknown, revoked, expired nor deleted', async () => {
    const t = await start();
    const [revoked, deleted, expired] = [
      await t.makeKey(),
      await t.makeKey(),
      await t.makeKey({ expires_at: '2020-01-01T00:00:00Z' }),
    ];
    await t.post(`/admin/keys/${revoked.id}/revoke`, undefined);
    await t.request('DELETE', `/admin/keys/${deleted.id}`);
    for (const credential of [
      revoked.key,
      deleted.key,
      expired.key,
      'gw_unknown',
      ` ${MASTER_KEY}`,
      MASTER_KEY.slice(0, -1),
    ]) {
      const answer = await signIn(t, credential);
      expect(refusal(answer), credential).to.deep.equal([401, 'invalid_api_key']);
      expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
    }
    for (const header of ['', 'Bearer', `Basic ${MASTER_KEY}`, MASTER_KEY]) {
      expect(
        refusal(await t.request('POST', '/admin/session', undefined, { authorization: header })),
        header,
      ).to.deep.equal([401, 'missing_api_key']);
    }
    expect((await t.get('/admin/sessions')).json()).to.deep.equal({ data: [] });
  });

  it('reads no body', async () => {
    const t = await start();
    expect((await t.request('POST', '/admin/session', '{{{', as(MASTER_KEY))).status).to.equal(201);
    expect((await t.request('POST', '/admin/session', 'x'.repeat(11_000_000), as(MASTER_KEY))).status).to.equal(201);
  });

  it('is tried twenty times by an address at once, then ten times a minute, good or bad', async () => {
    const clock = fakeClock();
    const t = await start({ clock });
    const statuses: number[] = [];
    for (const credential of [MASTER_KEY, 'gw_wrong', '', ...Array.from({ length: 17 }, () => MASTER_KEY)])
      statuses.push((await signIn(t, credential)).status);
    expect(statuses).to.deep.equal([201, 401, 401, ...Array.from({ length: 17 }, () => 201)]);
    const refused = await signIn(t, MASTER_KEY);
    expect(refusal(refused)).to.deep.equal([429, 'rate_limit_exceeded']);
    expect([
      refused.json().error.type,
      refused.headers.get('retry-after'),
      refused.headers.get('cache-control'),
    ]).to.deep.equal(['rate_limit_error', '6', 'no-store']);
    expect(refusal(await signIn(t, ''))).to.deep.equal([429, 'rate_limit_exceeded']);
    expect((await signIn(t, MASTER_KEY, '203.0.113.2')).status).to.equal(201);
    clock.advance(5999);
    expect((await signIn(t, MASTER_KEY)).status).to.equal(429);
    clock.advance(2);
    expect([(await signIn(t, MASTER_KEY)).status, (await signIn(t, MASTER_KEY)).status]).to.deep.equal([201, 429]);
    expect((await t.get('/admin/keys', { 'x-forwarded-for': '203.0.113.1' })).status).to.equal(200);
    expect(
      t.samples.filter(({ name }) => name === 'gateway_rate_limit_rejections_total').map(({ labels }) => labels),
    ).to.deep.equal(Array.from({ length: 4 }, () => ({ key_type: 'admin_session' })));
  });

  it('that the limit refuses leaves no row, and a header that is missing none', async () => {
    const t = await start({ clock: fakeClock() });
    for (let time = 0; time < 25; time += 1) await signIn(t, '');
    expect(await t.trail()).to.deep.equal([]);
    for (let time = 0; time < 25; time += 1) await signIn(t, 'gw_wrong', '203.0.113.9');
    expect(await t.trail()).to.have.length(20);
  });

  it('sits behind the limit of all requests, where that is on', async () => {
    const t = await start({ clock: fakeClock(), variables: { RATE_LIMIT_RPS: '1', RATE_LIMIT_BURST: '2' } });
    expect([(await signIn(t, MASTER_KEY)).status, (await signIn(t, MASTER_KEY)).status]).to.deep.equal([201, 201]);
    expect((await signIn(t, MASTER_KEY)).headers.get('cache-control')).to.equal('no-store');
    expect(
      t.samples.filter(({ name }) => name === 'gateway_rate_limit_rejections_total').map(({ labels }) => labels),
    ).to.deep.equal([{ key_type: 'ip' }]);
  });

  it('is of no use to the variables of former versions', async () => {
    const t = await start({
      variables: {
        MASTER_KEY: '',
        ADMIN_BOOTSTRAP_KEY: 'bootstrap-key-of-old',
        ADMIN_BOOTSTRAP_READ_ONLY_KEY: 'bootstrap-key-of-old',
        ADMIN_BOOTSTRAP_ENABLED: 'true',
      },
    });
    for (const credential of ['bootstrap-key-of-old', 'undefined', 'null', MASTER_KEY]) {
      expect((await signIn(t, credential)).status, credential).to.equal(401);
      expect((await t.get('/admin/keys', as(credential))).status, credential).to.equal(401);
    }
  });
});
