import { expect } from 'chai';
import type { RequestLogRow } from 'gw/contract';
import { FoldedRows } from '../../../builtins/telemetry/door/folded-rows.ts';
import { cases, Dice, fakeClock } from '../../kit/index.ts';

interface Line {
  readonly message: string;
  readonly attributes: unknown;
}

function scene() {
  const clock = fakeClock();
  const rows: RequestLogRow[] = [];
  const warned: Line[] = [];
  const ignore = (): void => {};
  const log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (message: string, attributes?: object) => void warned.push({ message, attributes }),
  };
  const folded = new FoldedRows({ clock, log, write: (row) => rows.push(row) });
  let made = 0;
  const add = (kind: string): void =>
    folded.add(kind, () => {
      made += 1;
      return {
        trace_id: `${kind}-${made}`,
        stage: 'on_error',
        model: '',
        created_at: clock.now(),
        api_key_id: kind,
        code: 'rate_limit_exceeded',
        reason: 'key_rpm',
      };
    });
  return { clock, rows, warned, folded, add, made: () => made };
}

const standFor = (rows: readonly RequestLogRow[]): number =>
  rows.reduce((sum, { repeats = 0 }) => sum + 1 + repeats, 0);

describe('rows of a flood of refusals', () => {
  it('are one each of the first fifty, and then one for the rest of a second', () => {
    const { rows, add, clock, warned, made } = scene();
    for (let count = 0; count < 200; count += 1) add('a');
    expect(rows).to.have.lengthOf(50);
    clock.advance(1000);
    expect(rows.at(-1)).to.include({ trace_id: 'a-51', repeats: 149 });
    expect([rows.length, made()]).to.deep.equal([51, 51]);
    expect(warned).to.deep.equal([
      {
        message: 'refusals were folded',
        attributes: { api_key_id: 'a', code: 'rate_limit_exceeded', reason: 'key_rpm', repeats: 149 },
      },
    ]);
  });

  it('of one kind leave those of another alone', () => {
    const { rows, add } = scene();
    for (let count = 0; count < 100; count += 1) add('a');
    add('b');
    expect(rows.filter(({ api_key_id: id }) => id === 'b')).to.have.lengthOf(1);
  });

  it('say so once a minute and key', () => {
    const { add, clock, warned } = scene();
    for (let second = 0; second < 130; second += 1) {
      for (let count = 0; count < 80; count += 1) add('a');
      clock.advance(1000);
    }
    expect(warned).to.have.lengthOf(3);
  });

  it('are written at the end, and no timer is left', () => {
    const { rows, add, clock, folded } = scene();
    for (let count = 0; count < 60; count += 1) add('a');
    folded.flush();
    expect([standFor(rows), clock.waiting]).to.deep.equal([60, 0]);
  });

  it('of more than a thousand kinds write the oldest', () => {
    const { rows, add } = scene();
    for (let kind = 0; kind < 1001; kind += 1) for (let count = 0; count < 51; count += 1) add(`k${kind}`);
    expect(rows).to.have.lengthOf(1001 * 50 + 1);
    expect(rows.at(-1)).to.include({ api_key_id: 'k0' });
  });

  for (let seed = 1; seed <= cases(40); seed += 1)
    it(`stand for every one, whenever it comes (seed ${seed})`, () => {
      const dice = new Dice(seed);
      const { rows, add, clock, folded } = scene();
      const added = new Map<string, number>();
      let seconds = 0;
      for (let step = 0; step < 200; step += 1) {
        const kind = dice.pick(['a', 'b', 'c']);
        const count = dice.below(41);
        for (let at = 0; at < count; at += 1) add(kind);
        added.set(kind, (added.get(kind) ?? 0) + count);
        const ms = dice.below(900);
        clock.advance(ms);
        seconds += ms / 1000;
      }
      folded.flush();
      for (const [kind, count] of added) {
        const own = rows.filter(({ api_key_id: id }) => id === kind);
        expect(standFor(own), kind).to.equal(count);
        expect(own.length, kind).to.be.at.most(50 + 6 * seconds + 2);
      }
    });
});
