import { expect } from 'chai';
import { CallIds, wordIds } from '../../providers/_common/call-ids.ts';
import { Dice } from '../kit/random.ts';

const ids = (longest = 64): CallIds => new CallIds(wordIds(longest));

describe('ids of tool calls', () => {
  it('stay as they are where the vendor takes them', () => {
    const fit = ids();
    for (const id of ['toolu_01A-b', 'call_1', 'x'.repeat(64)])
      expect([fit.ofCall(id), fit.ofResult(id)]).to.deep.equal([id, id]);
  });

  it('become fit ones otherwise, the same for call and result and in every request', () => {
    for (const id of ['functions.tide:0', 'a b', 'ä', '', undefined, null, 'x'.repeat(65), 'call\n']) {
      const fit = ids();
      const made = fit.ofCall(id);
      expect(made, String(id)).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
      expect([fit.ofResult(id), ids().ofCall(id), ids().ofResult(id)], String(id)).to.deep.equal([made, made, made]);
    }
  });

  it('stay apart where they differ, also from those that were made', () => {
    const [made, fit] = [ids().ofCall('a:b'), ids()];
    expect(new Set([fit.ofCall(made), fit.ofCall('a:b'), fit.ofCall('a;b'), fit.ofCall('a_b')])).to.have.lengthOf(4);
    expect([fit.ofResult(made), fit.ofResult('a_b')]).to.deep.equal([made, 'a_b']);
  });

  it('become different ones for the calls of several turns, each with its own result', () => {
    const fit = ids();
    const first = fit.ofCall('call_0_0');
    expect(fit.ofResult('call_0_0')).to.equal(first);
    const second = fit.ofCall('call_0_0');
    expect(fit.ofResult('call_0_0')).to.equal(second);
    expect([first, second]).to.satisfy(([a, b]: string[]) => a === 'call_0_0' && b !== a);
    const parallel = [fit.ofCall(''), fit.ofCall('')];
    expect([fit.ofResult(''), fit.ofResult(''), fit.ofResult('')]).to.deep.equal([...parallel, parallel[1]]);
  });

  it('hold for generated ones: fit, apart, paired, and no later turn changes an earlier one', () => {
    const roll = new Dice(15);
    const letters = ['a', 'B', '7', '_', '-', ':', '.', ' ', 'é', '\u0000', '😀'];
    for (let round = 0; round < 200; round += 1) {
      const given = Array.from({ length: 1 + roll.below(20) }, () =>
        Array.from({ length: roll.below(12) }, () => letters[roll.below(letters.length)]).join(''),
      );
      const [whole, part] = [ids(40), ids(40)];
      const made = given.map((id) => [whole.ofCall(id), whole.ofResult(id)]);
      for (const [call, result] of made)
        expect([result, call])
          .to.deep.equal([call, call])
          .and.satisfy(([id]: string[]) => /^[\w-]+$/.test(id ?? ''));
      expect(new Set(made.map(([call]) => call)).size).to.equal(given.length);
      const some = given.slice(0, 1 + roll.below(given.length));
      expect(some.map((id) => [part.ofCall(id), part.ofResult(id)])).to.deep.equal(made.slice(0, some.length));
    }
  });
});
