import { expect } from 'chai';
import { KEY_LIMIT_LIST, KEY_MEMBER_LIST, type KeyMemberKind } from '../../host/common/key-members.ts';
import { as, NOBODY, startAdmin } from '../admin/kit.ts';
import { codes, rowsUnder } from './tables.ts';

describe('docs/admin.md', () => {
  it('lists the routes with the scope that each asks for', async () => {
    const t = await startAdmin();
    const reader = as((await t.makeKey()).key);
    const nothing = as((await t.makeKey({ expires_at: '2020-01-01T00:00:00Z' })).key);
    for (const [route, scope] of rowsUnder('admin.md', '## Routes')) {
      const [method = '', path = ''] = (codes(route)[0] ?? '').split(' ');
      const url = path.replace('{id}', 'x');
      const ask = async (headers: Record<string, string>): Promise<number> =>
        (await t.request(method, url, undefined, headers)).status;
      expect([await ask(NOBODY), await ask(nothing)], route).to.deep.equal([401, 401]);
      const status = await ask(reader);
      if (codes(scope)[0] === 'admin') expect(status, route).to.equal(403);
      else expect(status, route).to.be.oneOf([200, 201, ...(method === 'GET' ? [404, 501] : [400])]);
    }
  });

  it('lists the members of a key in the order of the answers', async () => {
    const t = await startAdmin();
    const values = {
      texts: ['x'],
      integer: 1,
      amount: 1,
      budgets: [{ usd: 1, every: 'day' }],
      text: '/',
      flag: true,
      word: 'warn',
      rules: { allow: ['x'] },
      session: { budgets: [{ usd: 1 }] },
    };
    const limits = Object.fromEntries(KEY_LIMIT_LIST.map(([name, { kind }]) => [name, values[kind]]));
    const made = await t.makeKey({
      scopes: ['read_only'],
      access: 'inference',
      expires_at: '2099-01-01T00:00:00Z',
      ...limits,
    });
    await t.get('/v1/models', as(made.key));
    await t.post(`/admin/keys/${made.id}/revoke`, undefined);
    await t.post(`/admin/keys/${made.id}/rotate`, { grace_seconds: 60 });
    const documented = rowsUnder('admin.md', '## Keys').map(([member]) => codes(member)[0]);
    const ofOwn = documented.filter((name) => name !== 'origin'); // of keys that were brought from another gateway
    expect(Object.keys((await t.get(`/admin/keys/${made.id}`)).json())).to.deep.equal(ofOwn);
    expect(KEY_MEMBER_LIST.map(([name]) => name)).to.deep.equal(documented);
  });

  it('says of every member of a key its type, and who writes it', () => {
    const types: Readonly<Record<KeyMemberKind, string>> = {
      text: 'text',
      texts: 'list of texts',
      scopes: 'list of texts',
      moment: 'timestamp',
      flag: 'boolean',
      integer: 'integer',
      amount: 'number',
      budgets: 'list of budgets',
      rules: 'rules',
      session: 'session',
      word: 'text',
    };
    const expected = KEY_MEMBER_LIST.map(([, { kind, isWritten }]) => [types[kind], isWritten ? 'create, update' : '']);
    expect(rowsUnder('admin.md', '## Keys').map(([, type, writer]) => [type, writer])).to.deep.equal(expected);
  });
});
