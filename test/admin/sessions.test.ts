import { join } from 'node:path';
import { expect } from 'chai';
import { eventually, fakeClock, MASTER_KEY, temporaryFolder } from '../kit/index.ts';
import { type AdminHost, as, forBackends, NOBODY, refusal, startAdmin } from './kit.ts';

const START = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DEAD = [401, 'invalid_api_key'];

const statusOf = async (t: AdminHost, token: string): Promise<number> => (await t.get('/admin/keys', as(token))).status;

forBackends('a session', (start) => {
  it('is made of a key, and has its name and scopes; the token is shown once', async () => {
    const t = await start({ clock: fakeClock(START) });
    const key = await t.makeKey({ name: 'ada' });
    const answer = await t.request('POST', '/admin/session', undefined, as(key.key));
    expect(answer.status).to.equal(201);
    const session = answer.json();
    expect(session.token).to.match(/^gws_[0-9a-f]{64}$/);
    expect(Object.entries(session)).to.deep.equal([
      ['token', session.token],
      ['subject', 'ada'],
      ['scopes', ['read_only']],
      ['expires_at', '2026-02-01T12:00:00Z'],
    ]);
    const { data } = (await t.get('/admin/sessions')).json();
    expect(data[0].id).to.match(/^[0-9a-f]{32}$/);
    expect(data.map(Object.entries)).to.deep.equal([
      [
        ['id', data[0].id],
        ['credential_id', key.id],
        ['subject', 'ada'],
        ['scopes', ['read_only']],
        ['created_at', '2026-01-31T12:00:00Z'],
        ['expires_at', '2026-02-01T12:00:00Z'],
      ],
    ]);
  });

  it('of the master key has its id as subject and may do everything', async () => {
    const t = await start();
    const { token, subject, scopes } = await t.signIn(MASTER_KEY);
    expect([subject, scopes]).to.deep.equal([(await t.get('/admin/sessions')).json().data[0].credential_id, ['admin']]);
    expect((await t.post('/admin/keys', { name: 'x' }, as(token))).status).to.equal(201);
    expect((await t.get('/v1/models', as(token))).status).to.equal(200);
  });

  it('lists all of them, however many, or in pages', async () => {
    const t = await start();
    const { sessions } = t.host.stores;
    const { id } = await t.makeKey({ name: 'ada' });
    for (let at = 0; at < 520; at += 40)
      await Promise.all(
        Array.from({ length: 40 }, () => sessions.create({ credentialId: id, subject: 'ada', scopes: ['read_only'] })),
      );
    const answer = await t.get('/admin/sessions');
    const whole = answer.json().data as { id: string }[];
    expect([whole.length, answer.text, answer.headers.get('link')]).to.deep.equal([
      520,
      JSON.stringify({ data: whole }),
      null,
    ]);
    const pages: { id: string }[][] = [];
    for (let path: string | undefined = '/admin/sessions?limit=510'; path !== undefined;) {
      const page = await t.get(path);
      pages.push(page.json().data);
      path = /^<(.+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1];
    }
    expect(pages.map(({ length }) => length)).to.deep.equal([510, 10]);
    expect(pages.flat()).to.deep.equal(whole);
    expect((await t.get(`/admin/sessions?after=${whole[9]?.id}`)).json().data).to.deep.equal(whole.slice(10, 210));
    for (const query of ['limit=0', 'limit=x', 'after=gone'])
      expect(refusal(await t.get(`/admin/sessions?${query}`)), query).to.deep.equal([400, 'invalid_request']);
  });

  it('lists the newest first, and may do what its credential may', async () => {
    const clock = fakeClock(START);
    const t = await start({ clock });
    const reader = await t.makeKey({ name: 'reader' });
    const { token } = await t.signIn(reader.key);
    clock.advance(1);
    await t.signIn(MASTER_KEY);
    await t.signIn(MASTER_KEY);
    const { data } = (await t.get('/admin/sessions', as(token))).json();
    expect(data.map(({ subject }: { subject: string }) => subject === 'reader')).to.deep.equal([false, false, true]);
    expect(data[0].id > data[1].id).to.equal(true);
    expect(refusal(await t.request('DELETE', '/admin/sessions', undefined, as(token)))).to.deep.equal([
      403,
      'insufficient_scope',
    ]);
    expect((await t.get('/v1/models', as(token))).status).to.equal(200);
  });

  it('ends when it signs out; keys have none to end', async () => {
    const t = await start();
    const key = await t.makeKey();
    const { token } = await t.signIn(key.key);
    for (const credential of [key.key, MASTER_KEY])
      expect(refusal(await t.request('DELETE', '/admin/session', undefined, as(credential)))).to.deep.equal([
        400,
        'not_a_session',
      ]);
    const out = await t.request('DELETE', '/admin/session', undefined, as(token));
    expect([out.status, out.text]).to.deep.equal([204, '']);
    for (const method of ['GET', 'DELETE'])
      expect(
        refusal(await t.request(method, method === 'GET' ? '/admin/keys' : '/admin/session', undefined, as(token))),
      ).to.deep.equal(DEAD);
    expect((await t.get('/admin/sessions')).json()).to.deep.equal({ data: [] });
  });

  it('ends by its id, which need not exist, and with all others', async () => {
    const t = await start();
    const { token } = await t.signIn(MASTER_KEY);
    for (const id of [await t.newestSession(), 'unknown', '%00', '%27%3B--'])
      expect((await t.request('DELETE', `/admin/sessions/${id}`)).status, id).to.equal(204);
    expect(await statusOf(t, token)).to.equal(401);
    const tokens = [await t.signIn(MASTER_KEY), await t.signIn(MASTER_KEY), await t.signIn(MASTER_KEY)].map(
      (session) => session.token,
    );
    const all = await t.request('DELETE', '/admin/sessions', undefined, as(tokens[0]!));
    expect([all.status, all.json()]).to.deep.equal([200, { revoked: 3 }]);
    for (const each of tokens) expect(await statusOf(t, each)).to.equal(401);
    expect((await t.request('DELETE', '/admin/sessions')).json()).to.deep.equal({ revoked: 0 });
  });

  describe('lives', () => {
    it('for a day, however busy it is', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const { token } = await t.signIn(MASTER_KEY);
      for (let time = 0; time < 31; time += 1) {
        clock.advance(46 * MINUTE);
        expect(await statusOf(t, token), `${time}`).to.equal(200);
      }
      clock.advance(14 * MINUTE - 1);
      expect(await statusOf(t, token)).to.equal(200);
      clock.advance(1);
      expect(await statusOf(t, token)).to.equal(401);
    });

    it('for an hour without use, the moment itself excluded', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const [used, idle] = [await t.signIn(MASTER_KEY), await t.signIn(MASTER_KEY)];
      clock.advance(HOUR - 1);
      expect(await statusOf(t, used.token)).to.equal(200);
      clock.advance(1);
      expect([await statusOf(t, used.token), await statusOf(t, idle.token)]).to.deep.equal([200, 401]);
      clock.advance(HOUR - 1);
      expect(await statusOf(t, used.token)).to.equal(401);
    });

    it('and tells when it was last seen, a minute at a time', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const { token } = await t.signIn(MASTER_KEY);
      const seen = async (): Promise<string | undefined> =>
        (await t.get('/admin/sessions', as(token))).json().data[0].last_seen_at as string | undefined;
      expect(await seen()).to.equal(undefined);
      clock.advance(MINUTE - 1);
      expect(await seen()).to.equal(undefined);
      clock.advance(1);
      await eventually(async () => (await seen()) !== undefined); // it is written beside the request
      expect(await seen()).to.equal('2026-01-31T12:01:00Z');
      clock.advance(MINUTE - 1);
      await seen();
      expect(await seen()).to.equal('2026-01-31T12:01:00Z');
    });

    it('and leaves the list when it is over', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      await t.signIn(MASTER_KEY);
      clock.advance(HOUR);
      expect((await t.get('/admin/sessions')).json()).to.deep.equal({ data: [] });
    });
  });

  describe('follows its key', () => {
    const listed = async (t: AdminHost): Promise<any> => (await t.get('/admin/sessions')).json().data[0];

    it('ends with it for good, and is shown as not active', async () => {
      const t = await start();
      for (const end of ['revoke', 'delete']) {
        const key = await t.makeKey({ name: end });
        const { token } = await t.signIn(key.key);
        expect(await listed(t)).not.to.have.property('active');
        await (end === 'revoke'
          ? t.post(`/admin/keys/${key.id}/revoke`, undefined)
          : t.request('DELETE', `/admin/keys/${key.id}`));
        expect(refusal(await t.get('/admin/keys', as(token))), end).to.deep.equal(DEAD);
        const { data } = (await t.get('/admin/sessions')).json();
        expect(data.find(({ subject }: { subject: string }) => subject === end)).to.include({ active: false });
      }
    });

    it('rests while the key is expired', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const key = await t.makeKey({ expires_at: new Date(START + MINUTE).toISOString() });
      const { token } = await t.signIn(key.key);
      clock.advance(MINUTE + 1);
      expect(await statusOf(t, token)).to.equal(401);
      expect(await listed(t)).to.include({ active: false });
      await t.request('PUT', `/admin/keys/${key.id}`, { clear_expiration: true });
      expect(await statusOf(t, token)).to.equal(200);
      expect(await listed(t)).not.to.have.property('active');
    });

    it('has the scopes of the key as they are now; the list shows those of the beginning', async () => {
      const t = await start();
      const key = await t.makeKey();
      const { token } = await t.signIn(key.key);
      const writes = async (): Promise<number> => (await t.post('/admin/keys', { name: 'x' }, as(token))).status;
      expect(await writes()).to.equal(403);
      await t.request('PUT', `/admin/keys/${key.id}`, { scopes: ['admin'] });
      expect(await writes()).to.equal(201);
      expect((await listed(t)).scopes).to.deep.equal(['read_only']);
      await t.request('PUT', `/admin/keys/${(await t.adminKey()).id}`, {});
      await t.request('PUT', `/admin/keys/${key.id}`, { scopes: ['read_only'] });
      expect(await writes()).to.equal(403);
    });

    it('goes on when the key is rotated, unless the rotation says end_sessions', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const key = await t.makeKey();
      const { token } = await t.signIn(key.key);
      const next = (await t.post(`/admin/keys/${key.id}/rotate`, { grace_seconds: 5 })).json().key as string;
      expect(await statusOf(t, token)).to.equal(200);
      await t.post(`/admin/keys/${key.id}/rotate`, { end_sessions: true });
      expect([await statusOf(t, token), await statusOf(t, next)]).to.deep.equal([401, 401]);
      const last = (await t.post(`/admin/keys/${key.id}/rotate`, {})).json().key as string;
      expect(await statusOf(t, (await t.signIn(last)).token)).to.equal(200);
    });
  });

  it('cannot make another session, and neither its id nor its digest is a credential', async () => {
    const t = await start();
    const { token } = await t.signIn(MASTER_KEY);
    expect(refusal(await t.request('POST', '/admin/session', undefined, as(token)))).to.deep.equal(DEAD);
    for (const credential of [
      await t.newestSession(),
      `gws_${await t.newestSession()}`,
      token.toUpperCase(),
      `${token}0`,
      'gws_',
    ])
      expect(refusal(await t.get('/admin/keys', as(credential)))).to.deep.equal(DEAD);
    expect(refusal(await t.request('POST', '/admin/session', undefined, NOBODY))).to.deep.equal([
      401,
      'missing_api_key',
    ]);
  });
});

describe('a session that began by a clock that is ahead', () => {
  it('is ended by a rotation all the same', async () => {
    const variables = { API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: join(await temporaryFolder(), 'keys.db') };
    const ahead = await startAdmin({ clock: fakeClock(START + MINUTE), variables });
    const { id, key } = await ahead.makeKey();
    const { token } = await ahead.signIn(key);
    await ahead.close();
    const behind = await startAdmin({ clock: fakeClock(START), variables });
    expect(await statusOf(behind, token)).to.equal(200);
    expect((await behind.post(`/admin/keys/${id}/rotate`, { end_sessions: true })).status).to.equal(200);
    expect(await statusOf(behind, token)).to.equal(401);
  });
});
