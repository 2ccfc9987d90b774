import { expect } from 'chai';
import { changeText } from '../../host/stores/audit/change-text.ts';
import { shippedRedactor } from '../kit/redactor.ts';
import { type AdminHost, as, ECHO, forBackends } from './kit.ts';

const SECRET = 'planted-4Zq7-header';

/** The entries of one action with what changed, the newest first. */
const changesOf = async (t: AdminHost, action: string): Promise<any[]> =>
  (await t.trail(`&action=${action}&include=changes`)).map(({ changes }) => changes);

forBackends('what changed, in the audit trail', (start) => {
  it('holds each member of a key that is another, and never its value', async () => {
    const t = await start();
    const key = await t.makeKey({ name: 'web', rpm: 5, tags: ['a'] });
    const change = { name: 'web', rpm: 9, tags: null, budgets: [{ usd: 50, every: 'month' }] };
    expect((await t.request('PUT', `/admin/keys/${key.id}`, change)).status).to.equal(200);
    await t.request('PUT', `/admin/keys/${key.id}`, { name: 'web' });
    await t.post(`/admin/keys/${key.id}/rotate`, { grace_seconds: 60 });
    expect(await changesOf(t, 'key.create')).to.deep.equal([
      [
        { field: 'name', before: null, after: 'web' },
        { field: 'scopes', before: null, after: ['read_only'] },
        { field: 'tags', before: null, after: ['a'] },
        { field: 'rpm', before: null, after: 5 },
      ],
    ]);
    const [same, updated] = await changesOf(t, 'key.update');
    expect(same).to.equal(undefined);
    expect(updated.map(({ field }: any) => field)).to.deep.equal(['tags', 'rpm', 'budgets']);
    expect(updated[1]).to.deep.equal({ field: 'rpm', before: 5, after: 9 });
    expect(updated[2].after[0]).to.include({ usd: 50, every: 'month' });
    expect(await changesOf(t, 'key.rotate')).to.deep.equal([[{ field: 'grace_seconds', before: null, after: 60 }]]);
    expect(JSON.stringify(await t.trail('&include=changes'))).not.to.include(key.key);
  });

  it('holds each member of an account, and is found by its target and until a moment', async () => {
    const t = await start();
    const made = (await t.post('/admin/accounts', { path: '/acme', rpm: 5 })).json();
    await t.request('PUT', `/admin/accounts/${made.id}`, { budgets: [{ usd: 50, every: 'month' }] });
    await t.makeKey();
    const rows = await t.trail(`&target_id=${made.id}&include=changes`);
    expect(rows.map(({ action }) => action)).to.deep.equal(['account.update', 'account.create']);
    const budgets = rows[0]!['changes'].find(({ field }: any) => field === 'budgets');
    expect([budgets.before, budgets.after[0].usd]).to.deep.equal([null, 50]);
    const until = (rows[0]!['occurred_at'] as string).replace('+', '%2B');
    expect((await t.trail(`&until=${until}`)).every(({ occurred_at: at }) => at < rows[0]!['occurred_at'])).to.equal(
      true,
    );
    expect(new Set(rows.map(({ id }) => id)).size).to.equal(2);
  });

  it('holds the paths of a configuration with its version, and shows no secret', async () => {
    const t = await start();
    const servers = (value: string): object[] => [
      { name: 'a', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: value } },
    ];
    await t.request('PUT', '/admin/config', { ...ECHO, aliases: { fast: 'echo-1' }, mcp_servers: servers(SECRET) });
    await t.request('PUT', '/admin/config', {
      ...ECHO,
      aliases: { fast: 'echo-2' },
      mcp_servers: servers(`${SECRET}2`),
    });
    await t.post('/admin/config/rollback/1', undefined);
    const rows = await t.trail('&action=config.update&include=changes');
    expect(rows[0]!['config_version']).to.equal(2);
    expect(rows[0]!['changes'][0]).to.deep.equal({ field: 'aliases.fast', before: 'echo-1', after: 'echo-2' });
    expect(rows[0]!['changes'][1].field).to.equal('mcp_servers[0].headers');
    const [back] = await changesOf(t, 'config.rollback');
    expect(back[0]).to.deep.equal({ field: 'version', before: 2, after: 3 });
    expect(back.map(({ field }: any) => field)).to.include('aliases.fast');
    expect(JSON.stringify(await t.trail('&include=changes'))).not.to.include('planted');
  });

  it('is left out where it is not asked for', async () => {
    const t = await start();
    const key = await t.makeKey();
    const [row] = await t.trail();
    expect(row).not.to.have.any.keys('id', 'changes', 'config_version');
    const reader = await t.request('GET', '/admin/audit?include=changes', undefined, as(key.key));
    expect(reader.status).to.equal(200);
    const wrong = await t.get('/admin/audit?include=everything');
    expect([wrong.status, wrong.json().error.message]).to.deep.equal([
      400,
      'include has "everything", which is none of changes',
    ]);
  });
});

describe('the text of changes', () => {
  const redactor = shippedRedactor({});
  const textOf = (changes: Parameters<typeof changeText>[0]): any[] => JSON.parse(changeText(changes, redactor)!);

  it('is bounded in each side, in number and as a whole, and says what is left out', () => {
    const many = Array.from({ length: 70 }, (_none, at) => ({ field: `f${at}`, before: null, after: at }));
    expect(textOf(many)).to.have.lengthOf(51);
    expect(textOf(many).at(-1)).to.deep.equal({ field: '…', more: 20 });
    const [long] = textOf([{ field: 'a', before: 'x'.repeat(2000), after: { y: 'z'.repeat(2000) } }]);
    expect([long.before.length, long.after.length]).to.deep.equal([512, 512]);
    const wide = Array.from({ length: 50 }, (_none, at) => ({
      field: `f${at}`,
      before: 'é'.repeat(600),
      after: '\u0001'.repeat(600),
    }));
    expect(changeText(wide, redactor)!.length).to.be.at.most(16 * 1024);
    expect(changeText([], redactor)).to.equal(undefined);
  });

  it('holds no credential, wherever it stands, and cuts no character in two', () => {
    const key = `gw_${'0'.repeat(64)}`;
    expect(changeText([{ field: 'name', before: [key], after: { deep: `Bearer ${key}` } }], redactor)).not.to.include(
      key,
    );
    const [cut] = textOf([{ field: 'a', before: null, after: `${'x'.repeat(510)}😀😀` }]);
    expect(cut.after).to.equal(`${'x'.repeat(510)}…`);
  });
});
