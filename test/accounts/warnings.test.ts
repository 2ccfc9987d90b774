import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runCommand } from '../cli/commands.ts';
import { replyJson, startHost, stubUpstream, temporaryFolder, type TestHost } from '../kit/index.ts';

/** A document that is warned of by every rule that looks at documents, and one beside each that is not. */
const accountsOf = (target: string): readonly object[] => [
  { path: '/allowed', unpriced: 'allow', budgets: [{ usd: 5 }] },
  { path: '/in-tokens', unpriced: 'allow', budgets: [{ tokens: 5 }] },
  { path: '/of-sessions', child_default: { unpriced: 'allow', session: { budgets: [{ usd: 5 }] } } },
  { path: '/beyond', budgets: [{ tokens: 5, over: { use: 'nothing', more: 1 } }] },
  {
    path: '/served',
    budgets: [
      { tokens: 5, over: { use: 'm', more: 1 } },
      { requests: 5, over: { use: 'short', more: 1 } },
    ],
  },
  { path: '/of-targets', providers: { allow: [target, 'b*'], deny: ['c'] } },
  { path: '#chosen=*', brought_by: 'request', budgets: [{ requests: 5 }] },
  { path: '#given=*', budgets: [{ requests: 5 }] },
  { path: '#one', brought_by: 'both', budgets: [{ requests: 5 }] },
];

const IN_DOCUMENTS = [
  'WN40 accounts[0].unpriced',
  'WN40 accounts[2].child_default.unpriced',
  'WN42 accounts[5].providers.allow[1]',
  'WN42 accounts[5].providers.deny[0]',
  'WN44 accounts[6].brought_by',
];

const foundIn = ({ host }: TestHost): readonly string[] =>
  (host.current?.warnings ?? [])
    .filter(({ rule }) => /^WN4[0-5]$/.test(rule))
    .map(({ rule, path }) => `${rule} ${path}`);
const linesOf = (t: TestHost): readonly string[] =>
  t.lines.flatMap(({ rule, level }) => (/^WN4[0-5]$/.test(rule ?? '') ? [`${level} ${rule}`] : []));

async function scene(more: object = {}): Promise<{ t: TestHost; config: object }> {
  const upstream = await stubUpstream((_seen, response) => replyJson(response, 200, {}));
  const config = { targets: [upstream.target('a', { models: ['m'] })], aliases: { short: 'm' }, ...more };
  return { t: await startHost(config), config };
}

describe('what accounts may do otherwise than was meant', () => {
  it('is warned of when a configuration is applied, once, and not by a refresh', async () => {
    const { t } = await scene({ accounts: accountsOf('a') });
    const expected = [...IN_DOCUMENTS, 'WN41 accounts[3].budgets[0].over.use'];
    expect(foundIn(t).toSorted()).to.deep.equal(expected.toSorted());
    expect(linesOf(t).toSorted()).to.deep.equal(expected.map((found) => `WARN ${found.slice(0, 4)}`).toSorted());
    await t.host.applier.refresh();
    expect(linesOf(t)).to.have.lengthOf(expected.length);
    expect(foundIn(t)).to.have.lengthOf(expected.length);
  });

  it('is nothing where nothing is meant otherwise, and where there are no accounts', async () => {
    expect(foundIn((await scene()).t)).to.deep.equal([]);
    const { t } = await scene({ accounts: [{ path: '/acme', budgets: [{ usd: 5 }] }], money: { unpriced: 'warn' } });
    expect([foundIn(t), linesOf(t)]).to.deep.equal([[], []]);
  });

  it('is `money.unpriced` where an account has no word of its own', async () => {
    const accounts = [
      { path: '/a', budgets: [{ usd: 5 }] },
      { path: '/b', unpriced: 'warn', budgets: [{ usd: 5 }] },
    ];
    expect(foundIn((await scene({ accounts, money: { unpriced: 'allow' } })).t)).to.deep.equal(['WN40 money.unpriced']);
  });

  it('is a stored account that is declared too, and keys whose account is gone', async () => {
    const { t, config } = await scene();
    for (const path of ['/a', '/b']) await t.post('/admin/accounts', { path });
    for (const [account, keys] of [
      ['/a', 1],
      ['/b', 2],
      ['/gone', 3],
      ...Array.from({ length: 6 }, (_each, at) => [`/x${at}`, 1] as const),
    ] as const)
      for (let key = 0; key < keys; key += 1)
        await t.host.stores.keys.create({ name: 'k', scopes: ['read_only'], limits: { account } });
    await t.apply({ ...config, accounts: [{ path: '/a' }] });
    expect(foundIn(t)).to.deep.equal(['WN43 accounts[0]', 'WN45 accounts']);
    const line = t.lines.find(({ rule }) => rule === 'WN45');
    expect([line?.keys, line?.accounts]).to.deep.equal([9, '/gone, /x0, /x1, /x2, /x3, …']);
  });

  it('is printed by gw validate, with each account, its budgets and its word', async () => {
    const file = join(await temporaryFolder(), 'config.json');
    const targets = [{ virtual_key: 'echo' }];
    await writeFile(file, JSON.stringify({ targets, accounts: accountsOf('echo') }));
    const { stdout, code } = await runCommand(['validate', file]);
    expect(code).to.equal(0);
    const warnings = stdout.split('\n').filter((line) => /^warning .*: WN4\d: /.test(line));
    expect(warnings.map((line) => line.replace(/^warning (\S+): (WN4\d): .*$/, '$2 $1')).toSorted()).to.deep.equal(
      IN_DOCUMENTS.toSorted(),
    );
    const rows = stdout.split('\n').filter((line) => /^[/#]/.test(line));
    expect(rows.map((row) => row.split(/ {3,}/))).to.deep.include.members([
      ['/', '-', '-'],
      ['/allowed', 'usd 5 total', 'allow'],
      ['/served', 'tokens 5 total, requests 5 total', '-'],
      ['#given=*', 'requests 5 total', '-'],
    ]);
    await writeFile(file, JSON.stringify({ targets }));
    expect((await runCommand(['validate', file])).stdout).to.not.match(/ACCOUNT|WN4/);
  });

  it('is a section of gw doctor, beside zones and models without a price', async () => {
    const cwd = await temporaryFolder();
    const doctor = async (config: object, variables: Record<string, string> = {}): Promise<string | undefined> => {
      await writeFile(join(cwd, 'config.json'), JSON.stringify(config));
      const all = { GATEWAY_CONFIG: 'config.json', OPENAI_API_KEY: 'k-0123456789', ...variables };
      const { stdout } = await runCommand(['doctor', '--gateway-url', 'http://127.0.0.1:9'], { cwd, variables: all });
      return stdout.match(/^Money\n((?: {2}.*\n)*)/m)?.[1];
    };
    const targets = [{ virtual_key: 'openai', models: ['gpt-4o', 'not-in-the-catalog'] }];
    expect(await doctor({ targets })).to.equal(undefined);
    const accounts = [
      { path: '/acme', budgets: [{ usd: 5, every: 'day', timezone: 'Europe/Berlin' }] },
      { path: '#t', unpriced: 'allow', budgets: [{ usd: 5, over: { use: 'nothing', more: 1 } }] },
    ];
    const said = (await doctor({ targets, accounts })) ?? '';
    expect(said).to.contain('[OK] accounts: 2, tags: 1\n').and.contain('[OK] time zones of budgets: Europe/Berlin\n');
    expect(said).to.match(/\[!\] no price is known of .*openai\/not-in-the-catalog/);
    expect(said)
      .to.contain('[!] accounts[1].unpriced: WN40:')
      .and.contain('[!] accounts[1].budgets[0].over.use: WN41:');
    expect(said).to.not.contain('openai/gpt-4o,');
  });
});
