import { expect } from 'chai';
import { SPEND_BY, SPEND_COLUMNS } from '../../../builtins/admin/spend/spend-columns.ts';
import { usdText } from '../../../builtins/admin/spend/usd-text.ts';
import { cases, Dice } from '../../kit/index.ts';
import { askSpend, csvOf, HOUR, hourAt, naiveReader, randomRows, spendOf, type SpendRow } from './kit.ts';

const NOVEMBER = { from: hourAt('2026-11-01T00:00:00Z'), to: hourAt('2026-11-27T12:00:00Z') };

/** What all rows come to, by arithmetic that cannot be inexact. */
const totalOf = (rows: readonly SpendRow[]): bigint =>
  rows.reduce((sum, { figures }) => sum + BigInt(figures.micro_usd), 0n);

/** Micro-dollars of a decimal text, without a number in between. */
function microOf(text: string): bigint {
  const [, sign, whole = '', decimals = ''] = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  expect(whole, text).not.to.equal('');
  const micro = BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'));
  return sign === '-' ? -micro : micro;
}

/** Reads RFC 4180. */
function readCsv(text: string): Record<string, string>[] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\r\n') rows.push([]);
  }
  const [header = [], ...lines] = rows.slice(0, -1);
  return lines.map((line) => Object.fromEntries(header.map((name, at) => [name, line[at] ?? ''])));
}

describe('a report of spend', () => {
  it('adds up to the same micro-dollars as JSON, as CSV and as FOCUS, whatever it is grouped by', async () => {
    for (let seed = 1; seed <= cases(60); seed += 1) {
      const rows = randomRows(seed, 200, { ...NOVEMBER, merged: seed % 2 === 0 });
      const reader = naiveReader(rows);
      const total = totalOf(rows);
      const dice = new Dice(seed);
      const by = dice.pick(SPEND_BY.filter((word) => word !== 'tag'));
      const bucket = dice.pick(['', '&bucket=hour', '&bucket=day', '&bucket=week', '&bucket=month']);
      const asked = `from=2026-11-01T00:00:00Z&by=${by}${bucket}`;
      const json = await spendOf(reader, `${asked}&limit=1000`);
      expect(BigInt(json.summary['micro_usd']), asked).to.equal(total);
      if (json.summary['groups'] <= 1000)
        expect(json.data.reduce((sum, { micro_usd: micro }) => sum + BigInt(micro), 0n)).to.equal(total);
      const csv = readCsv(await csvOf(reader, `${asked}&format=csv`));
      expect(csv.length).to.equal(json.summary['groups']);
      expect(csv.reduce((sum, row) => sum + microOf(row['usd']!), 0n)).to.equal(total);
      const focus = readCsv(await csvOf(reader, 'from=2026-11-01T00:00:00Z&format=focus'));
      for (const column of ['BilledCost', 'EffectiveCost', 'ListCost', 'ContractedCost'])
        expect(focus.reduce((sum, row) => sum + microOf(row[column]!), 0n)).to.equal(total);
    }
  });

  it('counts a request with two tags in both, and says the true sum and that of requests without one', async () => {
    const rows = randomRows(7, 300, NOVEMBER);
    const { data, summary } = await spendOf(naiveReader(rows), 'by=tag');
    for (const { tag, micro_usd: micro, requests } of data) {
      const mine = rows.filter(({ texts }) => texts.tags.split(',').includes(tag));
      expect(BigInt(micro), tag).to.equal(totalOf(mine));
      expect(requests).to.equal(mine.reduce((sum, { figures }) => sum + figures.requests, 0));
    }
    expect(BigInt(summary['micro_usd'])).to.equal(totalOf(rows));
    const untagged = rows.filter(({ texts }) => texts.tags === '');
    expect(summary['untagged_usd']).to.equal(Number(totalOf(untagged)) / 1e6);
    expect(summary['requests']).to.equal(rows.reduce((sum, { figures }) => sum + figures.requests, 0));
  });

  it('cuts paths to a depth; 0 puts everything under the root, what has no account too', async () => {
    const rows = randomRows(8, 200, NOVEMBER);
    const reader = naiveReader(rows);
    const names = async (depth: string): Promise<string[]> =>
      (await spendOf(reader, `by=account&depth=${depth}&sort=name`)).data.map(({ account }) => account);
    expect(await names('0')).to.deep.equal(['/']);
    expect(await names('1')).to.deep.equal(['', '/acme', '/acmeother', '/beta']);
    expect(await names('2')).to.deep.equal(['', '/acme', '/acme/search', '/acmeother', '/beta', '/beta/x']);
    expect(await names('99')).to.have.length(7);
    const { data } = await spendOf(reader, 'by=account&depth=1');
    const below = rows.filter(({ texts }) => texts.account === '/acme' || texts.account.startsWith('/acme/'));
    expect(BigInt(data.find(({ account }) => account === '/acme')!['micro_usd'])).to.equal(totalOf(below));
  });

  it('is in the order of buckets, then of the sort, then of the members of by', async () => {
    const rows = randomRows(9, 400, NOVEMBER);
    const reader = naiveReader(rows);
    for (const sort of ['usd', 'requests', 'tokens', 'name']) {
      const { data } = await spendOf(reader, `by=target,line&bucket=week&sort=${sort}&limit=1000`);
      const sizes = (row: Record<string, any>): number =>
        sort === 'name'
          ? 0
          : sort === 'tokens'
            ? row['prompt_tokens'] + row['completion_tokens']
            : row[sort === 'usd' ? 'micro_usd' : 'requests'];
      const sorted = data.toSorted(
        (a, b) =>
          Date.parse(a['bucket']) - Date.parse(b['bucket']) ||
          sizes(b) - sizes(a) ||
          (a['target'] === b['target'] ? (a['line'] < b['line'] ? -1 : 1) : a['target'] < b['target'] ? -1 : 1),
      );
      expect(data, sort).to.deep.equal(sorted);
    }
  });

  it('has the names of keys while they exist, and members in the order they were asked for', async () => {
    const rows = randomRows(10, 100, NOVEMBER);
    const { data } = await spendOf(naiveReader(rows), 'by=model,key&bucket=month');
    expect(Object.keys(data[0]!).slice(0, 4)).to.deep.equal(['bucket', 'model', 'key', 'key_name']);
    for (const { key, key_name: name } of data) expect(name).to.equal(key === 'key_1' ? 'ci' : '');
  });

  it('gives a page of its groups, and in CSV all of them unless a part is asked for', async () => {
    const reader = naiveReader(randomRows(11, 400, NOVEMBER));
    const all = (await spendOf(reader, 'by=key,model&limit=1000')).data;
    expect(all.length).to.be.above(20);
    const page = await spendOf(reader, 'by=key,model&limit=7&offset=5');
    expect(page.data).to.deep.equal(all.slice(5, 12));
    expect(page.summary).to.include({ groups: all.length, returned: 7 });
    expect(readCsv(await csvOf(reader, 'by=key,model&format=csv'))).to.have.length(all.length);
    expect(readCsv(await csvOf(reader, 'by=key,model&format=csv&limit=7'))).to.have.length(7);
    expect(readCsv(await csvOf(reader, `by=key,model&format=csv&offset=${all.length - 1}`))).to.have.length(1);
  });

  it('passes filters on by the columns they are for, and takes `none` for the empty one', async () => {
    const rows = randomRows(12, 400, NOVEMBER);
    const words = ['account', 'key', 'tag', 'model', 'provider', 'target', 'credential', 'surface', 'line'] as const;
    for (const word of words) {
      const column = SPEND_COLUMNS[word];
      const reader = naiveReader(rows);
      const { summary, filters } = await spendOf(reader, `${word}=none`);
      expect(filters[word]).to.equal('none');
      const empty = rows.filter(({ texts }) => texts[column] === '');
      expect(BigInt(summary['micro_usd']), word).to.equal(totalOf(empty));
    }
    const { summary } = await spendOf(naiveReader(rows), 'account=/acme&tag=nightly');
    const mine = rows.filter(
      ({ texts: { account, tags } }) => /^\/acme(\/|$)/.test(account) && tags.split(',').includes('nightly'),
    );
    expect(BigInt(summary['micro_usd'])).to.equal(totalOf(mine));
    expect((await spendOf(naiveReader(rows), 'account=/')).summary['micro_usd']).to.equal(Number(totalOf(rows)));
  });

  it('sums up what was estimated and what vendors reported', async () => {
    const rows = randomRows(13, 200, NOVEMBER);
    const { data } = await spendOf(naiveReader(rows), '');
    const of = (source: string): number => Number(totalOf(rows.filter(({ texts }) => texts.source === source))) / 1e6;
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ estimated_usd: of('estimated'), reported_usd: of('reported') });
  });

  it('is an error where a sum is too large to be exact, and never a wrong sum', async () => {
    const [row] = randomRows(14, 1, NOVEMBER);
    const large = { ...row!, figures: { ...row!.figures, micro_usd: Number.MAX_SAFE_INTEGER } };
    const other = { ...large, texts: { ...large.texts, source: 'reported' } };
    const error = await askSpend(naiveReader([large, other]), '').catch((thrown: unknown) => thrown);
    expect(error).to.include({ code: 'internal_error' });
  });

  it('writes dollars exactly, without an exponent', () => {
    for (const [micro, text] of [
      [0, '0'],
      [1, '0.000001'],
      [-1, '-0.000001'],
      [1_500_000, '1.5'],
      [-12_000_000, '-12'],
      [Number.MAX_SAFE_INTEGER, '9007199254.740991'],
      [-Number.MAX_SAFE_INTEGER, '-9007199254.740991'],
    ] as const)
      expect(usdText(micro)).to.equal(text);
    const dice = new Dice(1);
    for (let time = 0; time < 1000; time += 1) {
      const micro = dice.below(2) === 0 ? dice.below(1e6) : dice.below(2 ** 31) * dice.below(2 ** 20);
      expect(microOf(usdText(micro))).to.equal(BigInt(micro));
    }
  });

  it('is nothing where nothing was spent, and 501 where no spend is kept, whatever is asked', async () => {
    const { data, summary } = await spendOf(naiveReader([]), 'by=account&bucket=day');
    expect(data).to.deep.equal([]);
    expect(summary).to.deep.equal({ requests: 0, usd: 0, micro_usd: 0, groups: 0, returned: 0 });
    expect(await askSpend(undefined, 'by=nothing').catch((thrown: unknown) => thrown)).to.include({
      code: 'not_implemented',
    });
  });
});

describe('buckets of spend', () => {
  /** One micro-dollar in each hour. */
  const hourly = (from: string, to: string): SpendRow[] => {
    const [row] = randomRows(1, 1, NOVEMBER);
    return Array.from({ length: hourAt(to) - hourAt(from) }, (_hour, at) => ({
      ...row!,
      hour: hourAt(from) + at,
      figures: { ...row!.figures, micro_usd: 1, requests: 1 },
    }));
  };

  it('are days of 23 and 25 hours in Berlin where clocks change', async () => {
    const rows = hourly('2026-03-20T00:00:00Z', '2026-11-05T00:00:00Z');
    const ask = async (from: string, to: string): Promise<[string, number][]> =>
      (await spendOf(naiveReader(rows), `timezone=Europe/Berlin&bucket=day&from=${from}&to=${to}`)).data.map(
        ({ bucket, requests }) => [bucket, requests],
      );
    expect(await ask('2026-03-27T23:00:00Z', '2026-03-30T22:00:00Z')).to.deep.equal([
      ['2026-03-27T23:00:00Z', 24],
      ['2026-03-28T23:00:00Z', 23],
      ['2026-03-29T22:00:00Z', 24],
    ]);
    expect(await ask('2026-10-23T22:00:00Z', '2026-10-26T23:00:00Z')).to.deep.equal([
      ['2026-10-23T22:00:00Z', 24],
      ['2026-10-24T22:00:00Z', 25],
      ['2026-10-25T23:00:00Z', 24],
    ]);
    const months = (
      await spendOf(
        naiveReader(rows),
        'timezone=Europe/Berlin&bucket=month&from=2026-09-30T22:00:00Z&to=2026-11-05T00:00:00Z',
      )
    ).data;
    expect(months.map(({ bucket, requests }) => [bucket, requests])).to.deep.equal([
      ['2026-09-30T22:00:00Z', 31 * 24 + 1],
      ['2026-10-31T23:00:00Z', 97],
    ]);
    const weeks = (await spendOf(naiveReader(rows), 'bucket=week&from=2026-03-20T00:00:00Z&to=2026-04-01T00:00:00Z'))
      .data;
    expect(weeks.map(({ bucket }) => bucket)).to.deep.equal([
      '2026-03-16T00:00:00Z',
      '2026-03-23T00:00:00Z',
      '2026-03-30T00:00:00Z',
    ]);
  });

  it('move to the full hour in a zone that is half an hour off, and say so', async () => {
    const rows = hourly('2026-11-01T00:00:00Z', '2026-11-10T00:00:00Z');
    const { data, summary } = await spendOf(
      naiveReader(rows),
      'timezone=Asia/Kolkata&bucket=day&from=2026-11-02T18:30:00Z&to=2026-11-04T18:30:00Z',
    );
    expect(summary).to.include({ is_approximate: true, requests: 48 });
    expect(data.map(({ bucket, requests }) => [bucket, requests])).to.deep.equal([
      ['2026-11-02T18:00:00Z', 24],
      ['2026-11-03T18:00:00Z', 24],
    ]);
  });

  it('are approximate where they cut a merged day, and only there', async () => {
    const merged = { ...hourly('2026-10-01T00:00:00Z', '2026-10-01T01:00:00Z')[0]!, span: 24 };
    const rows = [merged, ...hourly('2026-10-02T00:00:00Z', '2026-10-03T00:00:00Z')];
    const isApproximate = async (query: string): Promise<unknown> =>
      (await spendOf(naiveReader(rows), `from=2026-10-01T00:00:00Z&to=2026-10-03T00:00:00Z&${query}`)).summary[
        'is_approximate'
      ];
    expect(await isApproximate('bucket=day')).to.equal(undefined);
    expect(await isApproximate('bucket=hour')).to.equal(true);
    expect(await isApproximate('bucket=day&timezone=Europe/Berlin')).to.equal(true);
    expect(await isApproximate('')).to.equal(undefined);
  });

  it('hold what was spent in the hour that runs', async () => {
    const now = Date.parse('2026-11-27T12:34:56Z');
    const rows = hourly('2026-11-27T12:00:00Z', '2026-11-27T13:00:00Z');
    for (const query of ['', `to=${new Date(now).toISOString()}`, 'to=2026-11-27T13:00:00Z']) {
      const { summary } = await spendOf(naiveReader(rows), query, { now });
      expect(summary, query).to.include({ requests: 1 });
      expect(summary).not.to.have.property('is_approximate');
    }
    const early = await spendOf(naiveReader(rows), 'to=2026-11-27T12:00:00Z', { now });
    expect(early.summary).to.include({ requests: 0 });
  });

  it('begin with this month where nothing else is said, in the zone of the configuration', async () => {
    const reader = naiveReader([]);
    const now = Date.parse('2026-10-31T23:30:00Z');
    await spendOf(reader, '', { now, timezone: 'Europe/Berlin' });
    expect(reader.asked[0]!.from * HOUR).to.equal(Date.parse('2026-10-31T23:00:00Z'));
    await spendOf(reader, 'timezone=UTC', { now, timezone: 'Europe/Berlin' });
    expect(reader.asked[1]!.from * HOUR).to.equal(Date.parse('2026-10-01T00:00:00Z'));
  });
});

describe('parameters of a report of spend', () => {
  const refusal = async (query: string): Promise<string> => {
    const error = await askSpend(naiveReader([]), query).then(
      () => undefined,
      (thrown: unknown) => thrown as { readonly code: string; readonly message: string },
    );
    expect(error, query).to.include({ code: 'invalid_request' });
    return error!.message;
  };
  /** One bad value each, in the order in which they are looked at. */
  const BAD = [
    ['from', 'yesterday'],
    ['to', '2026-11-27'],
    ['by', 'colour'],
    ['depth', '1.5'],
    ['bucket', 'year'],
    ['timezone', '+02:00'],
    ['sort', 'cost'],
    ['limit', '0'],
    ['offset', '-1'],
    ['format', 'xml'],
  ] as const;

  it('are refused by their names, the first one first', async () => {
    for (const [at, [name, value]] of BAD.entries()) {
      expect(await refusal(`${name}=${encodeURIComponent(value)}`), name).to.match(new RegExp(`^${name} `));
      for (const [later, worse] of BAD.slice(at + 1))
        expect(
          await refusal(`${later}=${encodeURIComponent(worse)}&${name}=${encodeURIComponent(value)}`),
          `${name} and ${later}`,
        ).to.match(new RegExp(`^${name} `));
    }
  });

  it('name a range by the end that is wrong', async () => {
    expect(await refusal('from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z')).to.match(/^to /);
    expect(await refusal('from=2026-11-02T00:00:00Z&to=2026-11-02T00:00:00Z')).to.match(/^to /);
    expect(await refusal('to=2026-10-01T00:00:00Z&by=colour')).to.match(/^to /);
    expect(await refusal('from=2025-01-01T00:00:00Z')).to.match(/^from /);
    await spendOf(naiveReader([]), 'from=2025-10-23T12:00:00Z');
  });

  it('group by three at most, and cut paths only of accounts', async () => {
    expect(await refusal('by=account,key,tag,model')).to.match(/^by has 4/);
    expect(await refusal('by=model&depth=1')).to.match(/^depth /);
    expect((await spendOf(naiveReader([]), 'by=key,key,model')).filters['by']).to.deep.equal(['key', 'model']);
  });

  it('that FOCUS has no use for are refused beside it, the first one first', async () => {
    const NOT = ['by=account', 'depth=0', 'bucket=day', 'sort=usd', 'limit=5', 'offset=1'];
    for (const [at, one] of NOT.entries()) {
      if (one.startsWith('depth')) continue; // of use beside by alone, which comes first
      const later = NOT.slice(at + 1).filter((each) => !each.startsWith('depth'));
      expect(await refusal(['format=focus', ...later, one].join('&'))).to.match(new RegExp(`^${one.split('=')[0]} `));
    }
  });

  it('stand in the answer', async () => {
    const { filters } = await spendOf(
      naiveReader([]),
      'by=account&depth=2&bucket=day&timezone=Europe/Berlin&account=/acme&key=none&sort=name&limit=5000&offset=2',
    );
    expect(filters).to.deep.equal({
      from: '2026-10-31T23:00:00Z',
      to: '2026-11-27T12:00:00Z',
      by: ['account'],
      depth: 2,
      bucket: 'day',
      timezone: 'Europe/Berlin',
      account: '/acme',
      key: 'none',
      sort: 'name',
      limit: 1000,
      offset: 2,
    });
  });
});
