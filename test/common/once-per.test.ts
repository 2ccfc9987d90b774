import { expect } from 'chai';
import { HOUR_MS, OncePer } from '../../host/common/once-per.ts';

describe('once per period', () => {
  it('is each thing by itself, again after the period, and after a clock that was set back', () => {
    const once = new OncePer(HOUR_MS);
    expect([
      once.isFirst('a', 5),
      once.isFirst('a', 6),
      once.isFirst('b', 6),
      once.isFirst('a', HOUR_MS + 4),
      once.isFirst('a', HOUR_MS + 5),
      once.isFirst('a', 1),
    ]).to.deep.equal([true, false, true, false, true, true]);
  });

  it('remembers 10,000 things', () => {
    const once = new OncePer(HOUR_MS);
    for (let at = 0; at <= 10_000; at += 1) once.isFirst(String(at), 0);
    expect([once.isFirst('1', 1), once.isFirst('0', 1)]).to.deep.equal([false, true]);
  });
});
