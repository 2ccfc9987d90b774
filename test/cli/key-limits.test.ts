import { expect } from 'chai';
import { limitsIn } from '../../builtins/cli/admin/keys-create.ts';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { UsageError } from '../../host/cli/command.ts';
import { KEY_MEMBER_LIST } from '../../host/common/key-members.ts';
import { runCommand } from './commands.ts';
import { expectOneError, stub } from './support.ts';

const limit = (kind: 'texts' | 'integer' | 'amount', flags: string) => ({ kind, flag: { flags, summary: 's' } });
const LIMITS = [
  ['some_names', limit('texts', '--some-names <names>')],
  ['count', limit('integer', '--count <n>')],
  ['share', limit('amount', '--share <x>')],
  ['unflagged', { kind: 'integer' }],
] as const;

describe('flags that give members of a key', () => {
  it('are those of gw admin keys create', () => {
    const flags = KEY_MEMBER_LIST.flatMap(([, { flag }]) => flag ?? []);
    const options = COMMANDS.find(({ name }) => name === 'admin keys create')?.options;
    expect(options?.slice(0, -1)).to.deep.equal(flags);
    expect(options?.at(-1)?.flags).to.equal('--every <window>');
    expect(flags).to.have.length.above(2);
  });

  it('are read by the kind of their member', () => {
    const options = { someNames: 'a, b', count: '3', share: '0.5', unflagged: '1' };
    expect(limitsIn(options, LIMITS)).to.deep.equal({ some_names: ['a', 'b'], count: 3, share: 0.5 });
    expect(limitsIn({ someNames: '' }, LIMITS)).to.deep.equal({});
  });

  it('make a key with every one of them, and a budget that begins again', async () => {
    const { url, seen } = await stub(201, '{"id": "key_1"}');
    const create = (...flags: string[]): ReturnType<typeof runCommand> =>
      runCommand(['admin', 'keys', 'create', '--name', 'x', ...flags, '--gateway-url', url]);
    const limits = ['--model', 'gpt-*, claude', '--tag', 'a', '--rpm', '5', '--tpm', '900', '--budget-usd', '2.5'];
    expect((await create(...limits)).code).to.equal(0);
    const body = {
      name: 'x',
      scopes: ['read_only'],
      access: 'inference',
      models: ['gpt-*', 'claude'],
      tags: ['a'],
      rpm: 5,
      tpm: 900,
    };
    expect(JSON.parse(seen[0]!.body)).to.deep.equal({ ...body, budget_usd: 2.5 });
    expect((await create(...limits, '--every', '5h')).code).to.equal(0);
    expect(JSON.parse(seen[1]!.body)).to.deep.equal({ ...body, budgets: [{ usd: 2.5, every: '5h' }] });
    expectOneError(await create('--every', 'day'), '--every', '--budget-usd');
    expect(seen).to.have.length(2);
  });

  it('are refused where a number is not one', () => {
    expect(() => limitsIn({ count: 'many' }, LIMITS)).to.throw(UsageError, '--count "many" is not a number');
  });
});

describe('the access of a key that the command line makes', () => {
  for (const [flags, scopes, access] of [
    [[], ['read_only'], 'inference'],
    [['--scope', 'read_only'], ['read_only'], 'full'],
    [['--scope', 'admin'], ['admin'], 'full'],
    [['--access', 'full'], ['read_only'], 'full'],
    [['--scope', 'read_only', '--access', 'inference'], ['read_only'], 'inference'],
  ] as const)
    it(`is ${access} with ${flags.join(' ') || 'no flag'}, and it is said where it is narrow`, async () => {
      const { url, seen } = await stub(201, `{"id": "key_1", "access": "${access}"}`);
      const command = ['admin', 'keys', 'create', '--name', 'x', '--gateway-url', url];
      const { code, stderr } = await runCommand([...command, ...flags]);
      expect([code, JSON.parse(seen[0]!.body)]).to.deep.equal([0, { name: 'x', scopes, access }]);
      expect(stderr.includes('can only call models')).to.equal(access === 'inference');
    });

  it('is refused before anything is sent where it contradicts the scope, or is another word', async () => {
    const { url, seen } = await stub(201, '{}');
    const create = (...flags: string[]): ReturnType<typeof runCommand> =>
      runCommand(['admin', 'keys', 'create', '--name', 'x', ...flags, '--gateway-url', url]);
    expectOneError(await create('--scope', 'admin', '--access', 'inference'), 'inference', 'admin');
    expectOneError(await create('--access', 'all'), '"all"', 'full');
    expect(seen).to.have.length(0);
  });

  it('is wider where an older gateway made it, which is said', async () => {
    const { url } = await stub(201, '{"id": "key_1"}');
    const { stderr } = await runCommand(['admin', 'keys', 'create', '--name', 'x', '--gateway-url', url]);
    expect(stderr).to.include('this gateway is older: the key reads the admin API');
  });
});
