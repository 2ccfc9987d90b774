import { expect } from 'chai';
import { digestOf } from '../../host/stores/principals.ts';
import { fakeClock, MASTER_KEY } from '../kit/index.ts';
import { type AdminHost, as, forBackends, startAdmin } from './kit.ts';

const NOW = Date.UTC(2026, 10, 27, 12, 30);
const valueOf = (name: string): string => `sk-${name}-0123456789`;
const written = (name: string, more: object = {}): object => ({
  digest: digestOf(valueOf(name)),
  display: 'sk-...6789',
  name,
  ...more,
});

async function begun(t: AdminHost): Promise<string> {
  const answer = await t.post('/admin/imports', { source: 'litellm', note: 'moved' });
  expect(answer.status, answer.text).to.equal(201);
  return answer.json().id;
}

const adopt = async (t: AdminHost, id: string, ...keys: object[]): Promise<any> =>
  (await t.post('/admin/keys/adopt', { import_id: id, keys })).json();
const undo = async (t: AdminHost, id: string, query = ''): Promise<any> =>
  (await t.request('DELETE', `/admin/imports/${id}${query}`)).json();
const models = async (t: AdminHost, name: string): Promise<number> =>
  (await t.get('/v1/models', as(valueOf(name)))).status;
const spentOf = async (t: AdminHost, name: string): Promise<readonly number[]> =>
  (await t.get('/v1/key', as(valueOf(name)))).json().budgets.map(({ spent }: { spent: number }) => spent);

forBackends('keys of another gateway', (start) => {
  const world = async (): Promise<{ t: AdminHost; id: string; isKept: boolean }> => {
    const t = await start({ clock: fakeClock(NOW) });
    const first = await t.post('/admin/imports', { source: 'litellm' });
    return { t, id: first.json().id ?? '', isKept: first.status === 201 };
  };

  it('are taken by their digests, and begin with what they had spent', async () => {
    const { t, id, isKept } = await world();
    const budgets = [
      { usd: 5, every: 'day', opening: 1.25 },
      { tokens: 9, models: ['m*'] },
    ];
    const answer = await adopt(
      t,
      id,
      written('a', { budgets, rpm: 9, created_at: '2026-01-02T03:04:05Z' }),
      written('b'),
    );
    if (!isKept) return expect(answer.error.message).to.equal('import_id must be the id of an import');
    expect(answer).to.deep.equal({ adopted: 2, updated: 0, kept: 0, conflicts: [] });
    const [, key] = (await t.get('/admin/keys'))
      .json()
      .toSorted((one: any, other: any) => (one.name < other.name ? 1 : -1));
    expect(key).to.deep.include({ name: 'a', key: 'sk-...6789', rpm: 9, access: 'inference', origin: `litellm:${id}` });
    expect(key.budgets).to.deep.equal([
      { usd: 5, every: 'day' },
      { tokens: 9, models: ['m*'] },
    ]);
    expect(await spentOf(t, 'a')).to.deep.equal([1.25, 0]);
    expect((await t.get('/admin/keys', as(valueOf('a')))).status).to.equal(403);
    return undefined;
  });

  it('are refused one by one where another credential has their value', async () => {
    const { t, id, isKept } = await world();
    if (!isKept) return;
    const own = await t.makeKey();
    const rotated = await t.makeKey();
    await t.post(`/admin/keys/${rotated.id}/rotate`, { grace_seconds: 60 });
    const answer = await adopt(
      t,
      id,
      written('a'),
      { ...written('own'), digest: digestOf(own.key) },
      { ...written('rotated'), digest: digestOf(rotated.key) },
      { ...written('master'), digest: digestOf(MASTER_KEY) },
      written('a'),
      written('c', { previous: { digest: digestOf(own.key), until: '2099-01-01T00:00:00Z' } }),
    );
    expect(answer).to.deep.equal({ adopted: 1, updated: 0, kept: 0, conflicts: [1, 2, 3, 4, 5] });
    expect((await t.get('/admin/keys', as(MASTER_KEY))).status).to.equal(200);
    expect([(await t.get('/v1/models', as(own.key))).status, await models(t, 'c')]).to.deep.equal([200, 401]);
  });

  it('are brought up to date where nothing was changed here, with values that were replaced there', async () => {
    const { t, id, isKept } = await world();
    if (!isKept) return;
    await adopt(t, id, written('a', { budgets: [{ usd: 5, opening: 1 }] }), written('b'));
    const [b] = (await t.get('/admin/keys?q=b')).json();
    await t.request('PUT', `/admin/keys/${b.id}`, { rpm: 1 });
    const next = await begun(t);
    const until = new Date(NOW + 60_000).toISOString();
    const previous = { digest: digestOf(valueOf('a')), until };
    const budgets = [
      { usd: 7, opening: 3 },
      { requests: 5, opening: 2 },
    ];
    const answer = await adopt(t, next, written('a2', { previous, budgets }), written('b', { rpm: 99 }));
    expect(answer).to.deep.equal({ adopted: 0, updated: 1, kept: 1, conflicts: [] });
    expect([await models(t, 'a'), await models(t, 'a2'), (await t.get('/admin/keys?q=b')).json()[0].rpm]).to.deep.equal(
      [200, 200, 1],
    );
    expect(await spentOf(t, 'a2')).to.deep.equal([1, 2]);
  });

  it('go without a trace, but for those that were used or changed', async () => {
    const { t, id, isKept } = await world();
    if (!isKept) return;
    const account = { path: '/acme', budgets: [{ usd: 5, opening: 2 }], import_id: id };
    expect((await t.post('/admin/accounts', account)).json()).to.deep.include({ import_id: id, imported_version: 1 });
    await adopt(
      t,
      id,
      written('used', { account: '/acme' }),
      written('changed'),
      written('idle', { account: '/acme' }),
    );
    await models(t, 'used');
    const [changed] = (await t.get('/admin/keys?q=changed')).json();
    await t.request('PUT', `/admin/keys/${changed.id}`, { rpm: 1 });
    const first = await undo(t, id);
    expect(first.removed).to.deep.equal({ keys: 1, accounts: 0 });
    expect(first.kept.map(({ reason }: any) => reason).toSorted()).to.deep.equal([
      'it was changed',
      'it was used',
      'keys belong to it',
    ]);
    expect(await undo(t, id, '?force=true')).to.deep.equal({ removed: { keys: 2, accounts: 1 }, kept: [] });
    expect([(await t.get('/admin/keys')).json(), (await t.get('/admin/accounts')).json().data]).to.deep.equal([[], []]);
    expect((await t.request('DELETE', `/admin/imports/${id}`)).status).to.equal(404);
    const again = await begun(t);
    await t.post('/admin/accounts', { ...account, budgets: [{ usd: 5, opening: 4 }], import_id: again });
    expect((await t.get('/admin/accounts')).json().data[0].budgets[0].state.spent).to.equal(4);
  });
});

describe('an import', () => {
  it('has no place in a gateway that keeps its keys in memory', async () => {
    const t = await startAdmin();
    const answer = await t.post('/admin/imports', { source: 'litellm' });
    expect([answer.status, answer.json().error.code]).to.deep.equal([400, 'invalid_request']);
    expect((await t.post('/admin/accounts', { path: '/a', import_id: 'imp_0' })).json().error.message).to.equal(
      'the import "imp_0" does not exist',
    );
    expect((await t.post('/admin/imports', { source: 'other' })).status).to.equal(400);
  });

  it('says of a key what is wrong with it, and never its digest', async () => {
    const t = await startAdmin();
    const digest = digestOf('x').toUpperCase();
    const wrong: readonly (readonly [object, string])[] = [
      [{ ...written('a'), digest }, 'keys[0]: digest must be 64 hexadecimal digits in lower case'],
      [
        { ...written('a'), previous: digest },
        'keys[0]: previous must have a digest, and in until an RFC 3339 timestamp',
      ],
      [{ ...written('a'), colour: 1 }, 'keys[0]: there is no member "colour"'],
      [{ ...written('a'), scopes: ['admin'] }, 'keys[0]: there is no member "scopes"'],
      [{ ...written('a'), name: ' ' }, 'keys[0]: name must be a text that is not empty'],
      [{ ...written('a'), budgets: [{ usd: 1, opening: -1 }] }, 'keys[0]: budgets[0].opening must be a number from 0'],
    ];
    for (const [key, message] of wrong) {
      const answer = await t.post('/admin/keys/adopt', { check: true, keys: [key] });
      expect([answer.status, answer.json().error.message], message).to.deep.equal([400, answer.json().error.message]);
      expect(answer.json().error.message).to.satisfy((text: string) => text.startsWith(message));
      expect(answer.text).to.not.include(digest);
    }
    const many = { check: true, keys: Array.from({ length: 501 }, () => written('a')) };
    expect((await t.post('/admin/keys/adopt', many)).json().error.message).to.equal(
      'keys must be a list of at most 500 keys',
    );
  });

  it('opens only budgets that are new', async () => {
    const t = await startAdmin();
    const made = await t.post('/admin/accounts', { path: '/a', budgets: [{ usd: 5, opening: 2 }] });
    expect(made.json().budgets[0]).to.deep.include({ usd: 5 }).and.not.have.property('opening');
    expect(made.json().budgets[0].state.spent).to.equal(2);
    const change = (budgets: object[]): Promise<any> =>
      t.request('PUT', `/admin/accounts/${made.json().id}`, { budgets });
    expect((await change([{ usd: 6, opening: 3 }])).json().error.message).to.equal(
      'budgets[0].opening is for budgets that are new, and this one is not',
    );
    const wider = (await change([{ usd: 6 }, { tokens: 9, every: 'day', opening: 4 }])).json();
    expect(wider.budgets.map(({ state }: any) => state.spent)).to.deep.equal([2, 4]);
  });
});
