import { expect } from 'chai';
import { type Answer, fakeClock, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, forBackends, refusal } from './kit.ts';

const PAST = '2020-01-01T00:00:00Z';
const SELF = [409, 'self_mutation_forbidden'];
const LAST = [409, 'last_admin_key'];

/** Ways to take the power to administer away. */
const WAYS: Readonly<Record<string, (t: AdminHost, id: string, credential: string) => Promise<Answer>>> = {
  DELETE: (t, id, credential) => t.request('DELETE', `/admin/keys/${id}`, undefined, as(credential)),
  revoke: (t, id, credential) => t.post(`/admin/keys/${id}/revoke`, undefined, as(credential)),
  'PUT without admin': (t, id, credential) =>
    t.request('PUT', `/admin/keys/${id}`, { scopes: ['read_only'] }, as(credential)),
  'PUT of a past expiry': (t, id, credential) =>
    t.request('PUT', `/admin/keys/${id}`, { expires_at: PAST }, as(credential)),
};

forBackends('the lockout guard', (start) => {
  for (const [name, way] of Object.entries(WAYS)) {
    it(`${name}: a credential cannot do it to itself, by key or by session, with other admins or without`, async () => {
      const t = await start();
      const [own, other] = [await t.adminKey('own'), await t.adminKey('other')];
      const session = await t.signIn(own.key);
      for (const credential of [own.key, session.token])
        expect(refusal(await way(t, own.id, credential))).to.deep.equal(SELF);
      await t.request('DELETE', `/admin/keys/${other.id}`);
      for (const credential of [own.key, session.token])
        expect(refusal(await way(t, own.id, credential))).to.deep.equal(SELF); // before the count
      expect((await t.request('DELETE', '/admin/sessions/x', undefined, as(own.key))).status).to.equal(204);
    });

    it(`${name}: it is refused for the last admin key, also by the master key`, async () => {
      const t = await start();
      const [one, two] = [await t.adminKey('one'), await t.adminKey('two')];
      expect((await way(t, one.id, two.key)).status).to.be.oneOf([200, 204]);
      expect(refusal(await way(t, two.id, MASTER_KEY))).to.deep.equal(LAST);
      expect((await t.get('/admin/keys', as(two.key))).status).to.equal(200);
      expect((await t.get(`/admin/keys/${two.id}`)).json())
        .to.include({ active: true })
        .and.not.have.any.keys('revoked_at', 'expires_at');
    });

    it(`${name}: keys that cannot administer do not count, nor are they kept`, async () => {
      const clock = fakeClock();
      const t = await start({ clock });
      const last = await t.adminKey('last');
      const revoked = await t.adminKey('revoked');
      await t.post(`/admin/keys/${revoked.id}/revoke`, undefined);
      const soon = await t.makeKey({ scopes: ['admin'], expires_at: new Date(clock.now() + 1000).toISOString() });
      const reader = await t.makeKey();
      clock.advance(1001);
      expect(refusal(await way(t, last.id, MASTER_KEY))).to.deep.equal(LAST);
      for (const { id } of [revoked, soon, reader])
        expect((await way(t, id, MASTER_KEY)).status, id).to.be.oneOf([200, 204]);
    });

    it(`${name}: of all at once, one admin key is left`, async () => {
      const t = await start();
      const keys = await Promise.all(Array.from({ length: 8 }, (_, at) => t.adminKey(`k${at}`)));
      const answers = await Promise.all(keys.map(({ id }) => way(t, id, MASTER_KEY)));
      expect(answers.filter(({ status }) => status < 300)).to.have.length(7);
      expect(answers.filter(({ status }) => status === 409).map(refusal)).to.deep.equal([LAST]);
      const alive = await Promise.all(
        keys.map(async ({ key }) => (await t.request('DELETE', '/admin/sessions/x', undefined, as(key))).status),
      );
      expect(alive.filter((status) => status === 204)).to.have.length(1);
    });
  }

  it('looks at who asks before it looks whether there is such a key', async () => {
    const t = await start();
    const master = (await t.signIn(MASTER_KEY)).subject as string;
    expect(master).to.match(/^master-key:[0-9a-f]{16}$/);
    for (const way of Object.values(WAYS)) expect(refusal(await way(t, master, MASTER_KEY))).to.deep.equal(SELF);
    for (const way of Object.values(WAYS))
      expect(refusal(await way(t, 'x', MASTER_KEY))).to.deep.equal([404, 'resource_not_found']);
  });

  it('a key of two scopes is one admin, and one that has admin among others is one', async () => {
    const t = await start();
    const both = await t.makeKey({ scopes: ['read_only', 'admin', 'admin'] });
    expect(refusal(await t.request('DELETE', `/admin/keys/${both.id}`))).to.deep.equal(LAST);
  });

  it('lets pass what takes no power away, on oneself and on the last key', async () => {
    const t = await start();
    const own = await t.adminKey();
    const put = async (body: object): Promise<number> =>
      (await t.request('PUT', `/admin/keys/${own.id}`, body, as(own.key))).status;
    for (const body of [
      {},
      { name: 'new' },
      { scopes: ['admin'] },
      { scopes: ['read_only', 'admin'] },
      { expires_at: '2099-01-01T00:00:00Z' },
      { clear_expiration: true },
      { clear_expiration: true, expires_at: PAST },
      { rpm: 5 },
    ]) {
      expect(await put(body), JSON.stringify(body)).to.equal(200);
    }
    expect(
      refusal(await t.request('PUT', `/admin/keys/${own.id}`, { scopes: ['admin'], expires_at: PAST }, as(own.key))),
    ).to.deep.equal(SELF);
    const rotated = await t.post(`/admin/keys/${own.id}/rotate`, undefined, as(own.key));
    expect(rotated.status).to.equal(200);
    expect((await t.get('/admin/keys', as(rotated.json().key as string))).status).to.equal(200);
  });

  it('tells a typo before it guards: 400 and not 409', async () => {
    const t = await start();
    const own = await t.adminKey();
    expect(
      refusal(await t.request('PUT', `/admin/keys/${own.id}`, { scopes: ['readonly'] }, as(own.key))),
    ).to.deep.equal([400, 'invalid_scope']);
    expect(
      refusal(
        await t.request('PUT', `/admin/keys/${own.id}`, { scopes: ['read_only'], expires_at: 'never' }, as(own.key)),
      ),
    ).to.deep.equal([400, 'invalid_request']);
  });

  it('a key without the scope revokes nothing, not even itself', async () => {
    const t = await start();
    const reader = await t.makeKey();
    for (const way of Object.values(WAYS))
      expect(refusal(await way(t, reader.id, reader.key))).to.deep.equal([403, 'insufficient_scope']);
  });

  it('leaves a row that says why', async () => {
    const t = await start();
    const own = await t.adminKey('boss');
    for (const way of Object.values(WAYS)) {
      await way(t, own.id, own.key);
      await way(t, own.id, MASTER_KEY);
    }
    const denied = (await t.trail('&outcome=denied')).toReversed();
    const actions = ['key.delete', 'key.revoke', 'key.update', 'key.update'];
    expect(
      denied.map(({ action, target_id, detail }) => [action, target_id, JSON.parse(detail as string)]),
    ).to.deep.equal(
      actions.flatMap((action) => [
        [action, own.id, { reason: 'self_mutation_forbidden' }],
        [action, own.id, { reason: 'last_admin_key' }],
      ]),
    );
    expect(denied[0]).to.include({ actor: `boss (${own.id})`, actor_id: own.id });
  });
});
