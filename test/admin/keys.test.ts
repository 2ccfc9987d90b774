import { expect } from 'chai';
import { fakeClock } from '../kit/index.ts';
import { as, forBackends, refusal } from './kit.ts';

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNKNOWN = '00000000-0000-0000-0000-000000000000';
const START = Date.UTC(2026, 0, 31, 12);

forBackends('keys', (start) => {
  describe('POST /admin/keys', () => {
    it('answers with the whole object and the whole key, once', async () => {
      const t = await start({ clock: fakeClock(START) });
      const answer = await t.post('/admin/keys', {
        name: 'ci',
        scopes: ['admin'],
        expires_at: '2026-02-01T02:00:00+02:00',
      });
      expect([answer.status, answer.headers.get('content-type')]).to.deep.equal([201, 'application/json']);
      const key = answer.json();
      expect(key.id).to.match(ID);
      expect(key.key).to.match(/^gw_[0-9a-f]{64}$/);
      expect(Object.entries(key)).to.deep.equal([
        ['id', key.id],
        ['key', key.key],
        ['name', 'ci'],
        ['scopes', ['admin']],
        ['created_at', '2026-01-31T12:00:00Z'],
        ['expires_at', '2026-02-01T00:00:00Z'],
        ['usage_count', 0],
        ['active', true],
      ]);
      const masked = (await t.get(`/admin/keys/${key.id}`)).json();
      expect(masked).to.deep.equal({ ...key, key: `${key.key.slice(0, 8)}...` });
      expect(Object.keys(masked)).to.deep.equal(Object.keys(key));
    });

    it('gives read_only where no scope is named, and keeps order and doubles', async () => {
      const t = await start();
      for (const scopes of [undefined, null, []])
        expect((await t.makeKey({ scopes })).scopes).to.deep.equal(['read_only']);
      expect((await t.makeKey({ scopes: ['read_only', 'admin', 'read_only'] })).scopes).to.deep.equal([
        'read_only',
        'admin',
        'read_only',
      ]);
    });

    it('refuses what is not a body, then the name, then scopes, then the expiry, and keeps nothing', async () => {
      const t = await start();
      const codes: readonly [string, string][] = [
        ['', 'invalid_request'],
        ['{', 'invalid_request'],
        ['[]', 'invalid_request'],
        ['null', 'invalid_request'],
        ['"x"', 'invalid_request'],
        ['{"name":"x"', 'invalid_request'],
        ['\ufeff{"name":"x"}', 'invalid_request'],
        ['{"name":5,"scopes":["bad"]}', 'invalid_request'],
        ['{"name":"x","scopes":"admin"}', 'invalid_request'],
        ['{"name":"x","scopes":[1]}', 'invalid_request'],
        ['{"name":"x","scopes":{}}', 'invalid_request'],
        ['{"name":"x","expires_at":5,"scopes":["bad"]}', 'invalid_request'],
        ['{"name":["x"]}', 'invalid_request'],
        ['{}', 'invalid_request'],
        ['{"name":""}', 'invalid_request'],
        ['{"name":" \\t\\n"}', 'invalid_request'],
        ['{"name":null}', 'invalid_request'],
        ['{"name":" ","scopes":["bad"]}', 'invalid_request'],
        ['{"Name":"x"}', 'invalid_request'],
        ['{"name":"x","scopes":["bad"],"expires_at":"never"}', 'invalid_scope'],
        ['{"name":"x","expires_at":"never"}', 'invalid_request'],
        ['{"name":"x","expires_at":"2026-01-31"}', 'invalid_request'],
        ['{"name":"a\\u0000b"}', 'invalid_request'],
        ['{"name":"\\ud800"}', 'invalid_request'],
      ];
      for (const [body, code] of codes)
        expect(refusal(await t.post('/admin/keys', body)), body).to.deep.equal([400, code]);
      expect((await t.get('/admin/keys')).text).to.equal('[]');
      expect(await t.trail()).to.deep.equal([]);
    });

    for (const scope of ['', 'Admin', 'ADMIN', 'readonly', 'adminn', 'admin ', 'superadmin', '*', '__proto__']) {
      it(`names the scope "${scope}" and both that exist`, async () => {
        const t = await start();
        const answer = await t.post('/admin/keys', { name: 'x', scopes: ['admin', scope, 'worse'] });
        expect(refusal(answer)).to.deep.equal([400, 'invalid_scope']);
        expect(answer.json().error).to.include({ type: 'invalid_request_error' });
        expect(answer.json().error.message).to.include(JSON.stringify(scope)).and.include('admin or read_only');
        expect((await t.get('/admin/keys')).json()).to.deep.equal([]);
      });
    }

    it('ignores what it does not know and what follows the object; of doubles the last counts', async () => {
      const t = await start();
      for (const body of [
        '{"name":"x","color":"red","id":"mine","key":"gw_mine","usage_count":7}',
        '{"name":"x"} {"name":"y"}',
        '{"name":"x"}garbage',
        ' \n{"name":"}","name":"x"}]',
      ]) {
        const answer = await t.post('/admin/keys', body);
        expect(answer.status, answer.text).to.equal(201);
        expect(answer.json()).to.include({ name: 'x', usage_count: 0 });
        expect(answer.json().id).to.match(ID);
      }
    });

    it('makes a key whose expiry has passed, when it is asked for one', async () => {
      const t = await start();
      const { key } = await t.makeKey({ expires_at: '2020-01-01T00:00:00Z' });
      expect(refusal(await t.get('/v1/models', as(key)))).to.deep.equal([401, 'invalid_api_key']);
      for (const expires_at of ['', null]) expect(await t.makeKey({ expires_at })).not.to.have.property('expires_at');
    });
  });

  describe('GET /admin/keys', () => {
    it('lists the newest first, masked, as a bare array', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const names = ['a', 'b', 'c'];
      for (const name of names) {
        await t.makeKey({ name });
        clock.advance(1);
      }
      const twins = [await t.makeKey({ name: 'd' }), await t.makeKey({ name: 'd' })]
        .map(({ id }) => id)
        .toSorted()
        .toReversed();
      const answer = await t.get('/admin/keys');
      const listed = answer.json() as { id: string; name: string; key: string }[];
      expect(listed.map(({ name }) => name)).to.deep.equal(['d', 'd', 'c', 'b', 'a']);
      expect(listed.slice(0, 2).map(({ id }) => id)).to.deep.equal(twins);
      for (const { key } of listed) expect(key).to.match(/^gw_[0-9a-f]{5}\.\.\.$/);
    });

    it('knows no other ids', async () => {
      const t = await start();
      await t.makeKey();
      for (const id of [UNKNOWN, 'x', '%00', '%27%20OR%201=1--', 'a%2Fb', '__proto__', '%F0%9F%94%91']) {
        const answer = await t.get(`/admin/keys/${id}`);
        expect(refusal(answer), id).to.deep.equal([404, 'resource_not_found']);
        expect(answer.json().error.type).to.equal('not_found_error');
      }
    });
  });

  describe('PUT /admin/keys/{id}', () => {
    it('changes what it is given, and leaves the rest', async () => {
      const t = await start();
      const { id, key } = await t.makeKey({ name: 'one', scopes: ['admin'], expires_at: '2099-01-01T00:00:00Z' });
      const put = async (body: unknown): Promise<any> => {
        const answer = await t.request('PUT', `/admin/keys/${id}`, body);
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.json().key).to.equal(`${key.slice(0, 8)}...`);
        return answer.json();
      };
      const unchanged = await put({});
      expect(unchanged)
        .to.include({ name: 'one', expires_at: '2099-01-01T00:00:00Z', active: true })
        .and.deep.include({ scopes: ['admin'] });
      for (const body of [
        { name: '', scopes: [], expires_at: '' },
        { name: null, scopes: null, expires_at: null, clear_expiration: null },
        { clear_expiration: false },
        { other: 1 },
      ])
        expect(await put(body)).to.deep.equal(unchanged);
      expect(await put({ name: 'two' })).to.deep.equal({ ...unchanged, name: 'two' });
      expect(await put({ expires_at: '2098-01-01T00:00:00Z' })).to.deep.equal({
        ...unchanged,
        name: 'two',
        expires_at: '2098-01-01T00:00:00Z',
      });
      const cleared = await put({ clear_expiration: true, expires_at: 'garbage' });
      expect(cleared).not.to.have.property('expires_at');
      expect((await put({ scopes: ['read_only', 'admin'] })).scopes).to.deep.equal(['read_only', 'admin']);
      expect(await put('{"name":"three"}x')).to.include({ name: 'three' });
    });

    it('changes nothing when it refuses', async () => {
      const t = await start();
      const { id } = await t.makeKey({ name: 'one', scopes: ['admin'] });
      const before = (await t.get(`/admin/keys/${id}`)).json();
      const refused: readonly [object | string, string][] = [
        ['', 'invalid_request'],
        ['{', 'invalid_request'],
        [{ name: 5 }, 'invalid_request'],
        [{ clear_expiration: 'yes' }, 'invalid_request'],
        [{ name: 'two', scopes: ['bad'], expires_at: 'never' }, 'invalid_scope'],
        [{ name: 'two', expires_at: 'never' }, 'invalid_request'],
        [{ name: 'two', rpm: -1 }, 'invalid_request'],
      ];
      for (const [body, code] of refused)
        expect(refusal(await t.request('PUT', `/admin/keys/${id}`, body))).to.deep.equal([400, code]);
      expect((await t.get(`/admin/keys/${id}`)).json()).to.deep.equal(before);
      expect(refusal(await t.request('PUT', `/admin/keys/${UNKNOWN}`, { name: 'x' }))).to.deep.equal([
        404,
        'resource_not_found',
      ]);
      expect(refusal(await t.request('PUT', `/admin/keys/${UNKNOWN}`, { scopes: ['bad'] }))).to.deep.equal([
        400,
        'invalid_scope',
      ]);
    });

    it('works on a revoked key, and brings none back', async () => {
      const t = await start();
      const { id, key } = await t.makeKey();
      await t.post(`/admin/keys/${id}/revoke`, undefined);
      const answer = await t.request('PUT', `/admin/keys/${id}`, {
        name: 'again',
        active: true,
        revoked_at: null,
        clear_expiration: true,
      });
      expect([answer.status, answer.json().name, answer.json().active]).to.deep.equal([200, 'again', false]);
      expect((await t.get('/v1/models', as(key))).status).to.equal(401);
    });

    it('revives an expired key whose expiry is lifted', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const { id, key } = await t.makeKey({ expires_at: '2026-01-31T12:00:01Z' });
      const status = async (): Promise<number> => (await t.get('/v1/models', as(key))).status;
      clock.advance(1000);
      expect(await status()).to.equal(200); // the moment itself is not past
      clock.advance(1);
      expect(await status()).to.equal(401);
      expect((await t.get(`/admin/keys/${id}`)).json()).to.include({ active: true, usage_count: 1 });
      await t.request('PUT', `/admin/keys/${id}`, { clear_expiration: true });
      expect(await status()).to.equal(200);
    });

    it('changes what the key may do from its next request on', async () => {
      const t = await start();
      const { id, key } = await t.makeKey();
      expect((await t.post('/admin/keys', { name: 'x' }, as(key))).status).to.equal(403);
      await t.request('PUT', `/admin/keys/${id}`, { scopes: ['admin'] });
      expect((await t.post('/admin/keys', { name: 'x' }, as(key))).status).to.equal(201);
    });
  });

  describe('revoke and delete', () => {
    it('end a key; the record of a revoked one stays, with its first moment', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const { id, key } = await t.makeKey();
      expect((await t.get('/v1/models', as(key))).status).to.equal(200);
      for (const _time of [1, 2]) {
        const answer = await t.post(`/admin/keys/${id}/revoke`, undefined);
        expect([answer.status, answer.json()]).to.deep.equal([200, { status: 'revoked' }]);
        clock.advance(2000); // less than a store has to answer: uses are being written
      }
      expect((await t.get(`/admin/keys/${id}`)).json()).to.include({
        active: false,
        revoked_at: '2026-01-31T12:00:00Z',
        usage_count: 1,
      });
      expect(refusal(await t.get('/v1/models', as(key)))).to.deep.equal([401, 'invalid_api_key']);
      const gone = await t.request('DELETE', `/admin/keys/${id}`);
      expect([gone.status, gone.text]).to.deep.equal([204, '']);
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['PUT', ''],
        ['POST', '/revoke'],
        ['POST', '/rotate'],
      ] as const) {
        expect(
          refusal(await t.request(method, `/admin/keys/${id}${path}`, method === 'PUT' ? {} : undefined)),
          method + path,
        ).to.deep.equal([404, 'resource_not_found']);
      }
    });

    it('take no body, whatever is sent', async () => {
      const t = await start();
      const [one, two] = [await t.makeKey(), await t.makeKey()];
      expect((await t.post(`/admin/keys/${one.id}/revoke`, '{{{')).status).to.equal(200);
      expect((await t.request('DELETE', `/admin/keys/${two.id}`, '{{{')).status).to.equal(204);
    });
  });

  describe('rotate', () => {
    it('gives a new key in place of the old one, and keeps the rest', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const old = await t.makeKey({ scopes: ['admin'], expires_at: '2099-01-01T00:00:00Z', tags: ['a'] });
      await t.get('/v1/models', as(old.key));
      clock.advance(5000);
      const before = (await t.get(`/admin/keys/${old.id}`)).json();
      const answer = await t.post(`/admin/keys/${old.id}/rotate`, undefined);
      const { key } = answer.json();
      expect([answer.status, answer.json()]).to.deep.equal([
        200,
        { ...before, key, rotated_at: '2026-01-31T12:00:05Z' },
      ]);
      expect(Object.keys(answer.json()).slice(0, 8)).to.deep.equal([
        'id',
        'key',
        'name',
        'scopes',
        'created_at',
        'expires_at',
        'rotated_at',
        'last_used_at',
      ]);
      expect(key)
        .to.match(/^gw_[0-9a-f]{64}$/)
        .and.not.equal(old.key);
      expect([
        (await t.get('/v1/models', as(old.key))).status,
        (await t.get('/v1/models', as(key))).status,
      ]).to.deep.equal([401, 200]);
      expect((await t.get(`/admin/keys/${old.id}`)).json().key).to.equal(`${key.slice(0, 8)}...`);
    });

    it('lets the old key work on for grace_seconds, unless the key is revoked', async () => {
      const clock = fakeClock(START);
      const t = await start({ clock });
      const old = await t.makeKey();
      const status = async (key: string): Promise<number> => (await t.get('/v1/models', as(key))).status;
      const next = (await t.post(`/admin/keys/${old.id}/rotate`, { grace_seconds: 60 })).json().key as string;
      expect([await status(old.key), await status(next)]).to.deep.equal([200, 200]);
      clock.advance(60_001);
      expect([await status(old.key), await status(next)]).to.deep.equal([401, 200]);
      const third = (await t.post(`/admin/keys/${old.id}/rotate`, { grace_seconds: 60 })).json().key as string;
      await t.post(`/admin/keys/${old.id}/revoke`, undefined);
      expect([await status(next), await status(third)]).to.deep.equal([401, 401]);
    });

    it('refuses a body that says something else', async () => {
      const t = await start();
      const { id, key } = await t.makeKey();
      for (const body of [
        '{',
        '[]',
        { grace_seconds: -1 },
        { grace_seconds: 1.5 },
        { grace_seconds: '60' },
        { grace_seconds: 1e20 },
        { end_sessions: 1 },
      ]) {
        expect(refusal(await t.post(`/admin/keys/${id}/rotate`, body))).to.deep.equal([400, 'invalid_request']);
      }
      for (const body of ['', '  ', {}, { grace_seconds: 0 }, { grace_seconds: null, end_sessions: null, other: 1 }])
        expect((await t.post(`/admin/keys/${id}/rotate`, body)).status).to.equal(200);
      expect((await t.get('/v1/models', as(key))).status).to.equal(401);
    });

    it('brings no ended key back', async () => {
      const t = await start();
      const ended = [await t.makeKey(), await t.makeKey({ expires_at: '2020-01-01T00:00:00Z' })];
      await t.post(`/admin/keys/${ended[0]?.id}/revoke`, undefined);
      for (const { id } of ended) {
        const answer = await t.post(`/admin/keys/${id}/rotate`, undefined);
        expect(answer.status).to.equal(200);
        expect((await t.get('/v1/models', as(answer.json().key as string))).status).to.equal(401);
      }
    });
  });
});
