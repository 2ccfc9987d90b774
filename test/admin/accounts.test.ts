import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { type AdminHost, as, ECHO, forBackends, startAdmin } from './kit.ts';

const idOf = (path: string): string => `acc_${createHash('sha256').update(path).digest('hex').slice(0, 20)}`;
const SEARCH = { path: '/acme/search', title: 'Search', budgets: [{ usd: 5, every: 'day' }], rpm: 60 };

const declaring = (...accounts: object[]): object => ({ ...ECHO, accounts });
const paths = async (t: AdminHost, query = ''): Promise<string[]> =>
  (await t.get(`/admin/accounts${query}`)).json().data.map(({ path }: { path: string }) => path);

forBackends('accounts that administrators make', (start) => {
  it('are shown as they were written, with what is left of their budgets', async () => {
    const t = await start();
    const made = await t.post('/admin/accounts', SEARCH);
    expect([made.status, made.headers.get('etag')]).to.deep.equal([201, '"1"']);
    const { budgets, created_at, updated_at, ...others } = made.json();
    expect(others).to.deep.equal({
      id: idOf('/acme/search'),
      path: '/acme/search',
      origin: 'stored',
      title: 'Search',
      rpm: 60,
      keys: 0,
      children: 0,
      version: 1,
      raises: [],
    });
    expect([created_at, updated_at].map((moment) => Date.parse(moment))).to.not.include(Number.NaN);
    const { name, begins_at, ends_at, ...state } = budgets[0].state;
    expect(name).to.equal(`a:/acme/search|usd|day@UTC+00:00|${begins_at.slice(0, 10)}`);
    expect(Date.parse(ends_at) - Date.parse(begins_at)).to.equal(86_400_000);
    expect(state).to.deep.equal({ limit: 5, raised: 0, spent: 0, reserved: 0, remaining: 5 });
    expect((await t.get(`/admin/accounts/${idOf('/acme/search')}`)).json()).to.deep.equal(made.json());
    expect(await paths(t)).to.deep.equal(['/acme', '/acme/search']);
  });

  it('change by what is named; null takes away, and an inherited member shows again', async () => {
    const t = await start();
    await t.post('/admin/accounts', { path: '/acme', child_default: { rpm: 7, tpm: 9 } });
    await t.post('/admin/accounts', SEARCH);
    const url = `/admin/accounts/${idOf('/acme/search')}`;
    expect((await t.get(url)).json()).to.deep.include({ rpm: 60, tpm: 9, inherited: ['tpm'] });
    const changed = await t.request('PUT', url, { rpm: null, title: 'S' });
    expect(changed.json()).to.deep.include({ rpm: 7, tpm: 9, title: 'S', inherited: ['rpm', 'tpm'], version: 2 });
    const same = await t.request('PUT', url, { title: 'S', path: '/acme/search' });
    expect([same.status, same.json().version]).to.deep.equal([200, 2]);
    const [row] = await t.trail('&action=account.update');
    expect(JSON.parse(row?.['detail'])).to.deep.equal({
      path: '/acme/search',
      changed: { title: ['Search', 'S'], rpm: [60, null] },
    });
    expect(await t.trail('&action=account.update')).to.have.length(1);
    const other = await t.request('PUT', url, { path: '/acme/other' });
    expect([other.status, other.json().error.message]).to.deep.equal([400, 'the path of an account cannot change']);
  });

  it('change only at the version that If-Match names', async () => {
    const t = await start();
    await t.post('/admin/accounts', SEARCH);
    const url = `/admin/accounts/${idOf('/acme/search')}`;
    const at = (version: string): Promise<number> =>
      t
        .request('PUT', url, { tpm: Number(version.replace(/\D/g, '')) + 1 }, { 'if-match': version })
        .then(({ status }) => status);
    expect([await at('"0"'), await at('"2"'), await at('"1"'), await at('"1"'), await at('*')]).to.deep.equal([
      412, 412, 200, 412, 200,
    ]);
  });

  it('are not made twice, and not ended while a key or an account below uses them', async () => {
    const t = await start();
    await t.post('/admin/accounts', { path: '/acme', child_default: { rpm: 7 } });
    expect((await t.post('/admin/accounts', { path: '/acme' })).json().error.code).to.equal('account_exists');
    await t.post('/admin/accounts', SEARCH);
    const key = await t.makeKey({ account: '/acme/implied' });
    expect(await paths(t)).to.deep.equal(['/acme', '/acme/implied', '/acme/search']);
    const refused = await t.request('DELETE', `/admin/accounts/${idOf('/acme')}`);
    expect([refused.status, refused.json().error]).to.deep.equal([
      409,
      {
        message: 'the account /acme has 1 keys, and 1 stored accounts below it',
        type: 'invalid_request_error',
        code: 'account_in_use',
      },
    ]);
    expect((await t.request('DELETE', `/admin/accounts/${idOf('/acme/implied')}`)).status).to.equal(409);
    await t.request('DELETE', `/admin/keys/${key.id}`);
    for (const path of ['/acme/search', '/acme'])
      expect((await t.request('DELETE', `/admin/accounts/${idOf(path)}`)).status).to.equal(204);
    expect(await paths(t)).to.deep.equal([]);
    expect((await t.get(`/admin/accounts/${idOf('/acme')}`)).status).to.equal(404);
    expect((await t.trail('&action=account.delete')).map(({ outcome }) => outcome)).to.deep.equal([
      'ok',
      'ok',
      'denied',
      'denied',
    ]);
  });

  it('are listed by path, branch, depth, words and origin', async () => {
    const t = await start({}, declaring({ path: '/b', title: 'Beta' }));
    for (const path of ['/a', '/a/x', '/a/x/y', '#nightly']) await t.post('/admin/accounts', { path });
    expect(await paths(t)).to.deep.equal(['#nightly', '/a', '/a/x', '/a/x/y', '/b']);
    expect(await paths(t, '?under=/a')).to.deep.equal(['/a', '/a/x', '/a/x/y']);
    expect(await paths(t, '?under=/a&depth=1')).to.deep.equal(['/a', '/a/x']);
    expect(await paths(t, '?q=BET')).to.deep.equal(['/b']);
    expect(await paths(t, '?origin=declared')).to.deep.equal(['/b']);
    expect(await paths(t, '?path=/a/x')).to.deep.equal(['/a/x']);
    expect(await paths(t, '?limit=2&offset=1')).to.deep.equal(['/a', '/a/x']);
    expect((await t.get('/admin/accounts?limit=2')).json().summary).to.deep.equal({ total: 5, returned: 2 });
  });

  it('bind keys that name them; a key of an account that does not exist is refused', async () => {
    const t = await start();
    await t.post('/admin/accounts', SEARCH);
    const key = await t.makeKey({ account: '/acme/search', tags: ['nightly'] });
    await t.makeKey();
    expect((await t.get(`/admin/accounts/${idOf('/acme/search')}`)).json().keys).to.equal(1);
    expect((await t.get('/admin/keys?account=/acme')).json().map(({ id }: { id: string }) => id)).to.deep.equal([
      key.id,
    ]);
    expect((await t.get('/admin/keys?account=/acme/search/x')).json()).to.deep.equal([]);
    expect((await t.get('/admin/keys?account=/')).json()).to.have.length(2);
    for (const path of ['acme', '/acme/', '%23nightly', '/a//b'])
      for (const route of ['keys', 'logs'])
        expect((await t.get(`/admin/${route}?account=${path}`)).status, `${route} ${path}`).to.be.oneOf([400, 501]);
    await t.post('/admin/accounts', { path: '#nightly' });
    expect((await t.get(`/admin/accounts/${idOf('#nightly')}`)).json().keys).to.equal(1);
    const refused = await t.post('/admin/keys', { name: 'x', account: '/acme/other' });
    expect([refused.status, refused.json().error.message]).to.deep.equal([
      400,
      'the account "/acme/other" does not exist',
    ]);
  });
});

describe('accounts that a configuration declares', () => {
  it('count whole over what is stored, which comes back when they go', async () => {
    const t = await startAdmin();
    await t.post('/admin/accounts', SEARCH);
    const url = `/admin/accounts/${idOf('/acme/search')}`;
    await t.request('PUT', '/admin/config', declaring({ path: '/acme/search', tpm: 5 }));
    const declared = (await t.get(url)).json();
    expect(declared).to.deep.include({ origin: 'declared', tpm: 5 });
    expect(declared).to.not.have.property('rpm');
    for (const answer of [
      await t.post('/admin/accounts', SEARCH),
      await t.request('PUT', url, { rpm: 1 }),
      await t.request('DELETE', url),
    ])
      expect([answer.status, answer.json().error.code]).to.deep.equal([409, 'account_declared']);
    await t.request('PUT', '/admin/config', ECHO);
    expect((await t.get(url)).json()).to.deep.include({ origin: 'stored', rpm: 60 });
  });

  it('are written by administrators alone, and read by all who may read', async () => {
    const t = await startAdmin({}, declaring({ path: '/a' }));
    const reader = as((await t.makeKey()).key);
    expect((await t.request('GET', '/admin/accounts', undefined, reader)).status).to.equal(200);
    for (const [method, url] of [
      ['POST', '/admin/accounts'],
      ['PUT', `/admin/accounts/${idOf('/a')}`],
      ['DELETE', `/admin/accounts/${idOf('/a')}`],
    ] as const)
      expect((await t.request(method, url, {}, reader)).status, method).to.equal(403);
  });

  it('name every member of a body that is wrong', async () => {
    const t = await startAdmin();
    const message = async (body: object): Promise<string> => {
      const answer = await t.post('/admin/accounts', body);
      expect(answer.status, answer.text).to.equal(400);
      return answer.json().error.message;
    };
    expect(await message({ path: '/a', colour: 1, size: 2 })).to.equal('an account has no member "colour", "size"');
    expect(await message({ path: '/a', rpm: 0, unpriced: 'x', budgets: [{ usd: 1, every: 'year' }] })).to.match(
      /^budgets\[0\]\.every .*; rpm must .*; unpriced must /,
    );
    expect(await message({ path: 'a' })).to.match(/^path is "a": /);
    expect(await message({ path: '#x', child_default: {} })).to.equal('child_default is a member of accounts alone');
  });
});
