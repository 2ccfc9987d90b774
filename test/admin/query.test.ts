import { expect } from 'chai';
import { Query } from '../../builtins/admin/query.ts';
import { parseTimestamp, timestamp } from '../../host/common/timestamps.ts';
import { GatewayError } from '../../host/contract/index.ts';

const query = (text: string): Query => new Query({ url: `/x?${text}` });

function refused(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
  return 'accepted';
}

describe('a query parameter of the admin API', () => {
  it('limit is an integer from 1, clamped, and its default when absent or empty', () => {
    const limit = (text: string): number => query(text).limit(20, 100);
    expect(
      [
        '',
        'limit=',
        'limit=1',
        'limit=007',
        'limit=100',
        'limit=101',
        'limit=99999999999999999999',
        'limit=5&limit=7',
        'limit=&limit=7',
      ].map(limit),
    ).to.deep.equal([20, 20, 1, 7, 100, 100, 100, 5, 20]);
    for (const bad of ['0', '-1', '1.5', 'x', '1e2', '0x10', ' 5', '5 ', '+5', '%2B5', '１', 'null'])
      expect(
        refused(() => limit(`limit=${bad}`)),
        bad,
      ).to.equal('invalid_request');
  });

  it('offset is an integer from 0, however large', () => {
    const offset = (text: string): number => query(text).offset();
    expect(['', 'offset=', 'offset=0', 'offset=17', 'offset=99999999999999999999'].map(offset)).to.deep.equal([
      0,
      0,
      0,
      17,
      Number.MAX_SAFE_INTEGER,
    ]);
    for (const bad of ['-1', '1.5', 'x', '-0'])
      expect(
        refused(() => offset(`offset=${bad}`)),
        bad,
      ).to.equal('invalid_request');
  });

  it('active is one of twelve words', () => {
    const flag = (text: string): boolean | undefined => query(`active=${text}`).flag('active');
    for (const yes of ['1', 't', 'T', 'TRUE', 'true', 'True']) expect(flag(yes), yes).to.equal(true);
    for (const no of ['0', 'f', 'F', 'FALSE', 'false', 'False']) expect(flag(no), no).to.equal(false);
    expect(flag('')).to.equal(undefined);
    for (const bad of ['tRUE', 'yes', 'no', '2', 'true ', '%20true'])
      expect(
        refused(() => flag(bad)),
        bad,
      ).to.equal('invalid_request');
  });

  it('a word is taken to the letter', () => {
    const word = (text: string): string | undefined =>
      query(`outcome=${text}`).oneOf('outcome', ['ok', 'denied', 'error']);
    expect(['', 'ok', 'denied', 'error'].map(word)).to.deep.equal([undefined, 'ok', 'denied', 'error']);
    for (const bad of ['OK', 'ok%20', '%20ok', 'okay', 'ok%00'])
      expect(
        refused(() => word(bad)),
        bad,
      ).to.equal('invalid_request');
  });

  it('a filter is any text, but for what stores cannot be asked', () => {
    const given = query('a=%20x%00%27;--&b=');
    expect([given.filter('a'), given.filter('b'), given.filter('c'), given.text('a')]).to.deep.equal([
      " x\ufffd';--",
      undefined,
      undefined,
      " x\0';--",
    ]);
  });

  it('a moment is RFC 3339 with an offset; a plus sign that is not encoded is none', () => {
    const moment = (text: string): number | undefined => query(`since=${text}`).moment('since');
    expect(moment('2026-01-31T12:00:00%2B02:00')).to.equal(Date.UTC(2026, 0, 31, 10));
    expect(moment('')).to.equal(undefined);
    expect(refused(() => moment('2026-01-31T12:00:00+02:00'))).to.equal('invalid_request');
  });

  it('is read from the query alone, and what is wrong is named', () => {
    expect(new Query({ url: '/admin/limit=5' }).limit(20, 100)).to.equal(20);
    expect(() => query('limit=abc').limit(20, 100)).to.throw('limit is "abc"; use an integer of 1 or more');
  });
});

describe('a timestamp of the admin API', () => {
  it('is RFC 3339, with any fraction and offset', () => {
    const cases: readonly [string, number][] = [
      ['2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
      ['2026-01-31T12:00:00.5Z', Date.UTC(2026, 0, 31, 12, 0, 0, 500)],
      ['2026-01-31T12:00:00.123456789Z', Date.UTC(2026, 0, 31, 12, 0, 0, 123)],
      ['2026-01-31T12:00:00-05:30', Date.UTC(2026, 0, 31, 17, 30)],
      ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
      ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
      ['9999-12-31T23:59:59.999Z', 253_402_300_799_999],
      ['0001-01-01T00:00:00Z', -62_135_596_800_000],
    ];
    for (const [text, at] of cases) expect(parseTimestamp(text), text).to.equal(at);
  });

  it('is nothing else', () => {
    const bad = [
      '',
      'now',
      '1767225600',
      '2026-01-31',
      '2026-01-31T12:00:00',
      '2026-01-31 12:00:00Z',
      '2026-01-31t12:00:00z',
      '2026-01-31T12:00:00z',
      '2026-1-31T12:00:00Z',
      '2026-01-31T12:00Z',
      '2026-01-31T12:00:00+0200',
      '2026-01-31T12:00:00 02:00',
      '2026-02-29T00:00:00Z',
      '1900-02-29T00:00:00Z',
      '2026-04-31T00:00:00Z',
      '2026-13-01T00:00:00Z',
      '2026-00-01T00:00:00Z',
      '2026-01-00T00:00:00Z',
      '2026-01-31T24:00:00Z',
      '2026-01-31T12:60:00Z',
      '2026-01-31T12:00:60Z',
      '2026-01-31T12:00:00.Z',
      '2026-01-31T12:00:00+24:00',
      '2026-01-31T12:00:00+02:60',
      ' 2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00Z\n',
      '0000-01-01T00:00:00+01:00',
      '9999-12-31T23:59:59-01:00',
      '+02026-01-31T12:00:00Z',
      '２026-01-31T12:00:00Z',
    ];
    for (const text of bad) expect(parseTimestamp(text), text).to.equal(undefined);
  });

  it('is written in UTC, with milliseconds where there are some', () => {
    expect([timestamp(Date.UTC(2026, 0, 31, 12)), timestamp(Date.UTC(2026, 0, 31, 12, 0, 0, 120))]).to.deep.equal([
      '2026-01-31T12:00:00Z',
      '2026-01-31T12:00:00.120Z',
    ]);
  });
});
