import { expect } from 'chai';
import {
  AWAY_MS,
  MAX_SESSIONS,
  ServedSessions,
  type ServedPair,
  UNUSED_MS,
} from '../../builtins/routing/affinity/served-sessions.ts';
import type { SessionOrder } from '../../host/contract/index.ts';
import { cases, Dice } from '../kit/index.ts';

const ORDERS: readonly (SessionOrder | undefined)[] = ['spread', 'declared', 'repeatable', undefined];

/** What is remembered, as a list that is gone through from its end. */
class Model {
  kept: { digest: string; pair: ServedPair; movedAt: number; usedAt: number }[] = [];

  find(digest: string, order: SessionOrder | undefined, now: number): ServedPair | undefined {
    const one = this.kept.find((each) => each.digest === digest);
    if (!one) return undefined;
    return (order === 'declared' ? now < one.movedAt + AWAY_MS : now < one.usedAt + UNUSED_MS) ? one.pair : undefined;
  }

  keep(digest: string, pair: ServedPair, order: SessionOrder | undefined, now: number): void {
    const known = this.find(digest, order, now);
    const isSame = known?.route === pair.route && known.place === pair.place;
    const movedAt = isSame ? (this.kept.find((each) => each.digest === digest)?.movedAt ?? now) : now;
    this.forget(digest);
    this.kept.push({ digest, pair, movedAt, usedAt: now });
  }

  forget(digest: string): void {
    this.kept = this.kept.filter((each) => each.digest !== digest);
  }
}

describe('what is remembered of sessions', () => {
  it('is what a list that is gone through would say', () => {
    const dice = new Dice(5);
    const table = new ServedSessions();
    const model = new Model();
    let now = 0;
    for (let step = 0; step < cases(50_000); step += 1) {
      const digest = `d${dice.below(12)}`;
      const order = dice.pick(ORDERS);
      const pair = { route: `r${dice.below(3)}`, place: dice.pick([undefined, 'credential a', 'account b']) };
      now += dice.below(4 * 60_000);
      const what = dice.below(10);
      if (what < 6) {
        table.keep(digest, pair, order, now);
        model.keep(digest, pair, order, now);
      } else if (what < 7) {
        table.forget(digest);
        model.forget(digest);
      }
      const { route, place } = table.find(digest, order, now) ?? {};
      expect({ route, place }, `step ${step}`).to.deep.equal({
        route: undefined,
        place: undefined,
        ...model.find(digest, order, now),
      });
    }
  });

  it('is bounded under any number of sessions, the longest unused out first', () => {
    const table = new ServedSessions();
    const pair = { route: 'r', place: undefined };
    table.keep('kept', pair, 'spread', 0);
    const all = cases(1_000_000, 25);
    for (let at = 0; at < all; at += 1) {
      table.keep(`s${at}`, pair, 'spread', at);
      if (at % 10_000 === 0) table.keep('kept', pair, 'spread', at);
    }
    expect(table.size).to.equal(MAX_SESSIONS);
    expect(table.find('kept', 'spread', all)).to.include(pair);
    expect(table.find('s0', 'spread', all)).to.equal(undefined);
  });
});
