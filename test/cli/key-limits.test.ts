import { expect } from 'chai';
import { limitsIn } from '../../builtins/cli/admin/keys-create.ts';
import { COMMANDS } from '../../builtins/cli/commands.ts';
import { UsageError } from '../../host/cli/command.ts';
import { KEY_MEMBER_LIST } from '../../host/common/key-members.ts';

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
    expect(COMMANDS.find(({ name }) => name === 'admin keys create')?.options).to.deep.equal(flags);
    expect(flags).to.have.length.above(2);
  });

  it('are read by the kind of their member', () => {
    const options = { someNames: 'a, b', count: '3', share: '0.5', unflagged: '1' };
    expect(limitsIn(options, LIMITS)).to.deep.equal({ some_names: ['a', 'b'], count: 3, share: 0.5 });
    expect(limitsIn({ someNames: '' }, LIMITS)).to.deep.equal({});
  });

  it('are refused where a number is not one', () => {
    expect(() => limitsIn({ count: 'many' }, LIMITS)).to.throw(UsageError, '--count "many" is not a number');
  });
});
