import { expect } from 'chai';
import { fakeClock } from '../kit/index.ts';
import { as, forBackends, refusal } from './kit.ts';

const HOUR_S = 3600;

forBackends('the grace of a rotated key', (start) => {
  it('is shown while it runs, up to its last moment, in every answer that shows the key', async () => {
    const clock = fakeClock(Date.UTC(2026, 0, 31, 12));
    const t = await start({ clock });
    const key = await t.makeKey({ scopes: ['read_only'] });
    const rotated = (await t.post(`/admin/keys/${key.id}/rotate`, { grace_seconds: HOUR_S })).json();
    const shown = async (): Promise<(string | undefined)[]> => [
      (await t.get(`/admin/keys/${key.id}`)).json().previous_expires_at,
      (await t.get('/admin/keys')).json()[0].previous_expires_at,
      (await t.get('/admin/keys/usage')).json().data[0].previous_expires_at,
    ];
    const until = '2026-01-31T13:00:00Z';
    expect(rotated.previous_expires_at).to.equal(until);
    const status = async (value: string): Promise<number> => (await t.get('/admin/keys', as(value))).status;
    expect([await status(key.key), await status(rotated.key)]).to.deep.equal([200, 200]);
    clock.advance(HOUR_S * 1000);
    expect(await shown()).to.deep.equal([until, until, until]);
    expect(await status(key.key)).to.equal(200);
    clock.advance(1);
    expect(await shown()).to.deep.equal([undefined, undefined, undefined]);
    expect([await status(key.key), await status(rotated.key)]).to.deep.equal([401, 200]);
  });

  it('ends at once when it is asked to, and nothing else does', async () => {
    const t = await start();
    const key = await t.makeKey({ scopes: ['admin'] });
    const { key: value } = (await t.post(`/admin/keys/${key.id}/rotate`, { grace_seconds: HOUR_S })).json();
    const { token } = await t.signIn(key.key);
    const statuses = async (): Promise<number[]> =>
      Promise.all([key.key, value, token].map(async (each) => (await t.get('/admin/keys', as(each))).status));
    expect(await statuses()).to.deep.equal([200, 200, 200]);
    const ended = await t.post(`/admin/keys/${key.id}/end-grace`, undefined);
    expect([ended.status, ended.json().id, ended.json().previous_expires_at]).to.deep.equal([200, key.id, undefined]);
    expect(ended.text).not.to.include(value);
    expect(await statuses()).to.deep.equal([401, 200, 200]);
    expect((await t.post(`/admin/keys/${key.id}/end-grace`, undefined)).status, 'without a grace').to.equal(200);
    expect(refusal(await t.post('/admin/keys/none/end-grace', undefined))).to.deep.equal([404, 'resource_not_found']);
    const rows = (await t.trail('&action=key.end_grace')).map(({ target_id: id, outcome }) => [id, outcome]);
    expect(rows).to.have.deep.members([
      [key.id, 'ok'],
      [key.id, 'ok'],
      ['none', 'error'],
    ]);
    const reader = await t.makeKey();
    expect((await t.post(`/admin/keys/${key.id}/end-grace`, undefined, as(reader.key))).status).to.equal(403);
  });

  it('gives the old value the rights of the key, and no more', async () => {
    const t = await start();
    await t.adminKey('other');
    const key = await t.makeKey({ scopes: ['admin'] });
    await t.post(`/admin/keys/${key.id}/rotate`, { grace_seconds: HOUR_S });
    const statuses = async (): Promise<number[]> => [
      (await t.get('/admin/keys', as(key.key))).status,
      (await t.post('/admin/keys', {}, as(key.key))).status,
      (await t.get('/v1/models', as(key.key))).status,
    ];
    expect(await statuses()).to.deep.equal([200, 400, 200]);
    await t.request('PUT', `/admin/keys/${key.id}`, { scopes: ['read_only'] });
    expect(await statuses()).to.deep.equal([200, 403, 200]);
    await t.request('PUT', `/admin/keys/${key.id}`, { access: 'inference' });
    expect(await statuses()).to.deep.equal([403, 403, 200]);
  });

  it('stands beside a list of uses by the access of keys', async () => {
    const t = await start();
    const [one, two] = [await t.makeKey({ access: 'inference' }), await t.makeKey()];
    const listed = async (query: string): Promise<unknown> => {
      const { data, summary, filters } = (await t.get(`/admin/keys/usage${query}`)).json();
      return [data.map(({ id }: { id: string }) => id), summary.total_keys, filters.access];
    };
    expect(await listed('?access=inference')).to.deep.equal([[one.id], 1, 'inference']);
    expect(await listed('?access=full&sort=spend')).to.deep.equal([[two.id], 1, 'full']);
    expect(((await listed('')) as unknown[])[1]).to.equal(2);
    expect(((await listed('')) as unknown[])[2]).to.equal(undefined);
    expect(refusal(await t.get('/admin/keys/usage?access=all'))).to.deep.equal([400, 'invalid_request']);
  });
});
