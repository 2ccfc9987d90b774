import { expect } from 'chai';
import { MemoryKeys } from '../../host/stores/keys/memory-keys.ts';
import { Dice } from '../kit/random.ts';

describe('keys in memory', () => {
  it('have the pages of their use that sorting all of them would give', async () => {
    const dice = new Dice(11);
    const keys = new MemoryKeys();
    for (let at = 0; at < 1500; at += 1) {
      const id = String(dice.below(1e9)).padStart(9, '0') + at;
      await keys.insert({
        id,
        digest: id,
        display: 'gw_',
        name: 'k',
        scopes: [],
        createdAt: 1000 + dice.below(40),
        usageCount: dice.below(30),
        lastUsedAt: dice.below(3) === 0 ? undefined : 5000 + dice.below(50),
        active: dice.below(5) > 0,
        limits: {},
      });
    }
    for (const sort of ['usage', 'last_used'] as const)
      for (const active of [undefined, true]) {
        const whole = (await keys.usage({ sort, active, limit: 2000, offset: 0 })).keys.map(({ id }) => id);
        expect(whole.length).to.be.above(1000);
        for (const [offset, limit] of [
          [0, 1],
          [0, 20],
          [37, 100],
          [200, 50],
          [whole.length - 5, 100],
          [9999, 10],
        ] as const) {
          const page = await keys.usage({ sort, active, limit, offset });
          expect(
            page.keys.map(({ id }) => id),
            `${sort} ${offset}`,
          ).to.deep.equal(whole.slice(offset, offset + limit));
          expect(page.totalKeys).to.equal(whole.length);
        }
      }
  });
});
