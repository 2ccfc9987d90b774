import { expect } from 'chai';
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
    const made = await t.makeKey({
      scopes: ['read_only'],
      expires_at: '2099-01-01T00:00:00Z',
      models: ['m'],
      providers: ['p'],
      tags: ['t'],
      mcp_tools: ['x'],
      rpm: 1,
      tpm: 1,
      budget_usd: 1,
    });
    await t.get('/v1/models', as(made.key));
    await t.post(`/admin/keys/${made.id}/rotate`, undefined);
    await t.post(`/admin/keys/${made.id}/revoke`, undefined);
    const documented = rowsUnder('admin.md', '## Keys').map(([member]) => codes(member)[0]);
    expect(Object.keys((await t.get(`/admin/keys/${made.id}`)).json())).to.deep.equal(documented);
  });
});
