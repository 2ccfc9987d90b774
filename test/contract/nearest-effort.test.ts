import { expect } from 'chai';
import { type Effort, EFFORTS, nearestEffort } from '../../host/contract/index.ts';

const TABLE: readonly (readonly [allowed: string, ...rows: readonly string[]])[] = [
  // none, minimal, medium, xhigh, max; `!` is not what was asked for, `~` the nearest. See docs/catalog.md#the-nearest-effort.
  ['none low medium high xhigh', 'none', '~low', 'medium', 'xhigh', '~xhigh'],
  ['minimal low medium high', '!minimal', 'minimal', 'medium', '~high', '~high'],
  ['low high max', '!low', '~low', '~high', '~max', 'max'],
  ['low high', '!low', '~low', '~high', '~high', '~high'],
  ['none high', 'none', '~high', '~high', '~high', '~high'],
  ['low medium high xhigh max', '!low', '~low', 'medium', 'xhigh', 'max'],
  ['none', 'none', '!', '!', '!', '!'],
  ['', '!', '!', '!', '!', '!'],
];
const WANTED: readonly Effort[] = ['none', 'minimal', 'medium', 'xhigh', 'max'];
const MARKS = { lost: '!', bounded: '~' } as const;

const shown = (wanted: string, allowed: readonly Effort[]): string => {
  const { effort = '', change } = nearestEffort(wanted, allowed);
  return `${change === undefined ? '' : MARKS[change]}${effort}`;
};

describe('the nearest effort', () => {
  for (const [allowed, ...rows] of TABLE)
    it(`of a model that takes ${allowed || 'none at all'}`, () => {
      const words = allowed.split(' ').filter((word) => word !== '') as Effort[];
      expect(WANTED.map((wanted) => shown(wanted, words))).to.deep.equal(rows);
    });

  it('is the word itself where nothing is known of the model, and none for a word that is not an effort', () => {
    expect(nearestEffort('ultra', undefined)).to.deep.equal({ effort: 'ultra' });
    expect(nearestEffort('ultra', EFFORTS)).to.deep.equal({ change: 'lost' });
  });

  const SUBSETS = Array.from({ length: 2 ** EFFORTS.length }, (_none, bits) =>
    EFFORTS.filter((_effort, at) => ((bits >> at) & 1) === 1),
  );
  const rank = (effort: Effort | undefined): number => (effort === undefined ? -1 : EFFORTS.indexOf(effort));

  it('is one that the model takes, or none, of every set of efforts', () => {
    for (const allowed of SUBSETS)
      for (const wanted of EFFORTS) {
        const { effort, change } = nearestEffort(wanted, allowed);
        const at = `${wanted} of ${allowed.join()}`;
        if (effort === undefined) expect(change, at).to.equal('lost');
        else expect(allowed, at).to.include(effort);
        expect(change === undefined, at).to.equal(effort === wanted);
        if (wanted !== 'none' && effort !== undefined) expect(effort, at).to.not.equal('none');
        if (change === 'lost' && effort !== undefined) expect(wanted, at).to.equal('none');
      }
  });

  it('grows with what is asked for, and is its own nearest', () => {
    for (const allowed of SUBSETS) {
      const thinking = EFFORTS.slice(1).map((wanted) => rank(nearestEffort(wanted, allowed).effort));
      expect(thinking, allowed.join()).to.deep.equal(thinking.toSorted((a, b) => a - b));
      const least = rank(nearestEffort('none', allowed).effort);
      if (thinking[0] !== -1) expect(least, allowed.join()).to.be.at.most(thinking[0] ?? 0);
      for (const wanted of EFFORTS) {
        const { effort } = nearestEffort(wanted, allowed);
        if (effort) expect(nearestEffort(effort, allowed), allowed.join()).to.deep.equal({ effort });
      }
    }
  });
});
