import { expect } from 'chai';
import type { SpendQuestion, SpendSums } from '../../host/stores/spend/spend-ledger.ts';
import { SPEND_COUNTS, SPEND_TEXTS, type SpendRow, type SpendText } from '../../host/stores/spend/spend-row.ts';
import { sumSpend } from '../../host/stores/spend/sum-spend.ts';
import { cases, Dice } from '../kit/index.ts';
import { onEverySpend } from './backends.ts';

const FIRST = 480_000; // an hour of 2024
const EMPTY = Object.fromEntries([
  ...SPEND_TEXTS.map((name) => [name, '']),
  ...SPEND_COUNTS.map((name) => [name, 0]),
]) as unknown as SpendRow;
const rowOf = (more: Partial<SpendRow>): SpendRow => ({ ...EMPTY, hour: FIRST, span: 1, requests: 1, ...more });

const VALUES: Readonly<Partial<Record<SpendText, readonly string[]>>> = {
  account: ['', '/a', '/a/b', '/ab', '/A', "/a/o'x"],
  key_id: ['', 'k1', 'k2', '(other)'],
  tags: ['', 'x', 'x,y', 'xy', 'project=red', '%'],
  model: ['gpt-4o', 'a?b', 'ü "m"', 'M', 'm'],
  provider: ['openai', 'anthropic'],
  target: ['one', 'two'],
  surface: ['chat', 'embeddings'],
  line: ['', 'standard', 'above272000+flex*eu'],
  source: ['usage', 'estimated', 'reported'],
};

function diced(dice: Dice, hours: number): SpendRow {
  const texts = Object.entries(VALUES).map(([name, all]) => [name, dice.pick(all)]);
  const counts = SPEND_COUNTS.map((name) => [name, dice.below(1000)]);
  return rowOf({ ...Object.fromEntries([...texts, ...counts]), hour: FIRST + dice.below(hours) });
}

function question(dice: Dice, hours: number): SpendQuestion {
  const [a, b] = [FIRST - 2 + dice.below(hours + 4), FIRST - 2 + dice.below(hours + 4)];
  const [from, to] = [Math.min(a, b), Math.max(a, b) + 1];
  const by = SPEND_TEXTS.filter(() => dice.below(4) === 0);
  const names = Object.keys(VALUES).filter(() => dice.below(5) === 0) as SpendText[];
  const filters = Object.fromEntries(
    names.flatMap((name) => {
      if (name === 'source') return [];
      const value = name === 'tags' ? dice.pick(['', 'x', 'y', 'xy', '%']) : dice.pick(VALUES[name] ?? ['']);
      return [[name === 'tags' ? 'tag' : name, name === 'account' && dice.below(4) === 0 ? '/' : value]];
    }),
  );
  return { from, to, by, filters, edges: edgesOf(dice, from, to) };
}

function edgesOf(dice: Dice, from: number, to: number): readonly number[] {
  const kind = dice.below(3);
  if (kind === 0) return [];
  const edges = [from - dice.below(3)];
  for (let at = from; at < to; at += kind === 1 ? 24 : 1 + dice.below(30)) if (at > (edges.at(-1) ?? 0)) edges.push(at);
  return edges;
}

const ordered = (groups: readonly SpendSums[], by: readonly SpendText[]): unknown[] =>
  groups
    .map((group) => [group.bucket, ...by.map((name) => group[name]), ...SPEND_COUNTS.map((name) => group[name])])
    .map((values) => JSON.stringify(values))
    .toSorted();

describe('the ledger of spend', () => {
  onEverySpend((open) => {
    it('answers every question as a look at each row does', async function compare() {
      this.timeout(60_000);
      const dice = new Dice(7);
      const { spend } = await open();
      const rows = Array.from({ length: 700 }, () => diced(dice, 100));
      for (const row of rows) spend.add(row);
      for (let at = 0; at < cases(400); at += 1) {
        const asked = question(dice, 100);
        const [found, meant] = [await spend.read(asked), sumSpend(rows, asked)];
        expect(ordered(found.groups, asked.by), JSON.stringify(asked)).to.deep.equal(ordered(meant.groups, asked.by));
      }
    });

    it('adds to what is there, and reads what was added before it is asked', async () => {
      const { spend } = await open();
      const asked: SpendQuestion = { from: FIRST, to: FIRST + 1, edges: [], by: ['model'], filters: {} };
      for (let at = 1; at <= 3; at += 1) {
        spend.add(rowOf({ model: 'm', micro_usd: 5 }));
        const { groups } = await spend.read(asked);
        expect(groups.map(({ requests, micro_usd: usd }) => [requests, usd])).to.deep.equal([[at, 5 * at]]);
      }
    });

    it('refuses a sum that a number cannot hold, and gives no wrong one', async () => {
      const { spend } = await open();
      for (const model of ['a', 'b']) spend.add(rowOf({ model, micro_usd: Number.MAX_SAFE_INTEGER }));
      const asked: SpendQuestion = { from: FIRST, to: FIRST + 1, edges: [], by: ['model'], filters: {} };
      expect((await spend.read(asked)).groups).to.have.length(2);
      const failed = await spend.read({ ...asked, by: [] }).catch((error: Error) => error.message);
      expect(failed).to.include('the sum of micro_usd is larger');
    });

    it('keeps texts of any length and any characters', async () => {
      const { spend } = await open();
      const texts = ['\0', 'x'.repeat(5000), '\ud800', "'; DROP TABLE spend; --", '?', '😀'.repeat(900)];
      for (const model of texts)
        spend.add(rowOf({ model, tags: model, target: model, credential: model, micro_usd: 1 }));
      const { groups } = await spend.read({ from: FIRST, to: FIRST + 1, edges: [], by: [], filters: {} });
      expect(groups.map(({ requests, micro_usd: usd }) => [requests, usd])).to.deep.equal([
        [texts.length, texts.length],
      ]);
    });

    it('is merged to days without any change of its sums, also what came late', async () => {
      const { spend, stored } = await open();
      if (!stored) return;
      const dice = new Dice(11);
      const rows = Array.from({ length: 300 }, () => diced(dice, 72));
      for (const row of rows.slice(0, 250)) spend.add(row);
      const asked: SpendQuestion = { from: 0, to: 1e7, edges: [], by: SPEND_TEXTS, filters: {} };
      await spend.read(asked);
      const before = Math.floor((FIRST + 72) / 24) * 24;
      let days = 0;
      while (await stored.table.mergeDay(before)) days += 1;
      expect(days).to.be.within(2, 4);
      for (const row of rows.slice(250)) spend.add(row);
      await spend.read(asked);
      while (await stored.table.mergeDay(before));
      const found = await spend.read(asked);
      expect(ordered(found.groups, asked.by)).to.deep.equal(ordered(sumSpend(rows, asked).groups, asked.by));
      expect(found.mergedUntil).to.equal(before);
      const half = { ...asked, by: [], from: 0, to: before - 30 };
      const merged = rows.map((row) =>
        row.hour < before ? { ...row, hour: Math.floor(row.hour / 24) * 24, span: 24 } : row,
      );
      expect(ordered((await spend.read(half)).groups, [])).to.deep.equal(ordered(sumSpend(merged, half).groups, []));
    });

    it('loses rows that ended before its retention, and no others', async () => {
      const { spend, stored } = await open();
      if (!stored) return;
      for (let at = 0; at < 40; at += 1) spend.add(rowOf({ hour: FIRST + at, micro_usd: 1 }));
      const asked: SpendQuestion = { from: 0, to: 1e7, edges: [], by: [], filters: {} };
      await spend.read(asked);
      expect(await stored.table.purge(FIRST + 10, 6)).to.equal(6);
      expect(await stored.table.purge(FIRST + 10, 6)).to.equal(4);
      expect(await stored.table.purge(FIRST + 10, 6)).to.equal(0);
      expect((await spend.read(asked)).groups[0]?.micro_usd).to.equal(30);
    });

    it('is written once for each number, together with what is booked', async () => {
      const { spend, stored } = await open();
      if (!stored) return;
      const { ledgers } = stored;
      const booking = { ledger: 'one', key: 'k', amount: 5, limit: undefined, isAnew: false };
      const row = rowOf({ model: 'm', micro_usd: 5 });
      await Promise.all([ledgers.book([booking], 1, [row]), ledgers.book([booking], 1, [row])]);
      await ledgers.book([], 2, [row]);
      const { groups } = await spend.read({ from: 0, to: 1e7, edges: [], by: [], filters: {} });
      expect(groups[0]?.micro_usd).to.equal(10);
      expect((await ledgers.read()).map(({ committed }) => committed)).to.deep.equal([5]);
    });
  });
});
