import { expect } from 'chai';
import { LearnedFacts } from '../../host/generation/learned-facts.ts';
import { fakeClock } from '../kit/index.ts';

describe('what refusals taught about models', () => {
  it('is laid over what is known, and counts as long as it was given', () => {
    const clock = fakeClock();
    const learned = new LearnedFacts(clock.monotonic);
    const known = { summaries: true, efforts: ['low'] } as const;
    expect(learned.over(known, 'm')).to.equal(known);
    learned.learn({ efforts: ['high'] }, { model: 'm', keptMs: 10 });
    learned.learn({ summaries: false }, { model: undefined, keptMs: 20 });
    learned.learn({ endpoints: ['responses'] }, { model: 'm' });
    expect(learned.over(known, 'm')).to.deep.equal({ summaries: false, efforts: ['high'], endpoints: ['responses'] });
    expect(learned.over(known, 'n')).to.deep.equal({ summaries: false, efforts: ['low'] });
    clock.advance(10);
    expect(learned.over(known, 'm')).to.deep.equal({ summaries: false, efforts: ['low'], endpoints: ['responses'] });
    learned.learn({ efforts: [] }, { model: 'm', keptMs: 5 });
    clock.advance(4);
    expect(learned.over(known, 'm').efforts).to.deep.equal([]);
    clock.advance(10);
    expect(learned.over(known, 'm')).to.deep.equal({ ...known, endpoints: ['responses'] });
    expect(learned.over(known, 'n')).to.equal(known);
  });

  it('is kept of a thousand models; the one that was learned first leaves', () => {
    const learned = new LearnedFacts(() => 0);
    for (let at = 0; at <= 1_000; at += 1) learned.learn({ endpoints: ['responses'] }, { model: `m${at}` });
    expect(learned.over({}, 'm0')).to.deep.equal({});
    for (const model of ['m1', 'm1000']) expect(learned.over({}, model)).to.deep.equal({ endpoints: ['responses'] });
  });

  it('is not kept of names that only a client would choose', () => {
    const learned = new LearnedFacts(() => 0);
    for (const length of [256, 257]) learned.learn({ endpoints: ['responses'] }, { model: 'm'.repeat(length) });
    expect(learned.over({}, 'm'.repeat(256))).to.deep.equal({ endpoints: ['responses'] });
    expect(learned.over({}, 'm'.repeat(257))).to.deep.equal({});
  });
});
