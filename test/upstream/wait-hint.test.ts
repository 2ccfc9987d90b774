import { expect } from 'chai';
import { waitHintMs } from '../../host/upstream/wait-hint.ts';

const NOW = Date.UTC(2026, 0, 15, 12, 0, 0);
const HOUR_MS = 3_600_000;

const httpDate = (ms: number): string => new Date(NOW + ms).toUTCString();
const epoch = (ms: number): string => String(Math.floor((NOW + ms) / 1000));

describe('wait hints of an upstream', () => {
  for (const [headers, expected] of [
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after-ms': ' 250 ' }, 250],
    [{ 'retry-after-ms': '12.5' }, 12.5],
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 7 ' }, 7000],
    [{ 'retry-after': '172800' }, 48 * HOUR_MS],
    [{ 'retry-after': httpDate(90_000) }, 90_000],
    [{ 'x-ratelimit-reset': '12' }, 12_000],
    [{ 'x-ratelimit-reset': '86400' }, 24 * HOUR_MS],
    [{ 'x-ratelimit-reset': httpDate(HOUR_MS) }, HOUR_MS],
    [{ 'x-ratelimit-reset': epoch(60_000) }, 60_000],
    [{ 'x-ratelimit-reset': epoch(24 * HOUR_MS) }, 24 * HOUR_MS],
  ] as const) {
    it(`takes ${JSON.stringify(headers)}`, () => {
      expect(waitHintMs(headers, NOW)).to.equal(expected);
    });
  }

  for (const headers of [
    {},
    { 'retry-after-ms': '0' },
    { 'retry-after-ms': '-5' },
    { 'retry-after-ms': 'soon' },
    { 'retry-after-ms': 'Infinity' },
    { 'retry-after-ms': '' },
    { 'retry-after': '0' },
    { 'retry-after': '-1' },
    { 'retry-after': '1.5' },
    { 'retry-after': 'soon' },
    { 'retry-after': '5, 5' },
    { 'retry-after': '9'.repeat(40) },
    { 'retry-after': httpDate(-1000) },
    { 'retry-after': 'Wed, no date at all GMT' },
    { 'retry-after': '2026-01-16' },
    { 'x-ratelimit-reset': '86401' },
    { 'x-ratelimit-reset': epoch(25 * HOUR_MS) },
    { 'x-ratelimit-reset': epoch(-60_000) },
    { 'x-ratelimit-reset': httpDate(25 * HOUR_MS) },
    { 'x-ratelimit-reset': '0' },
    { 'x-ratelimit-reset': '1m30s' },
  ] as readonly Readonly<Record<string, string>>[]) {
    it(`refuses ${JSON.stringify(headers)}`, () => {
      expect(waitHintMs(headers, NOW)).to.equal(undefined);
    });
  }

  it('takes the first usable header, in the order Retry-After-Ms, Retry-After, X-RateLimit-Reset', () => {
    const all = { 'retry-after-ms': '100', 'retry-after': '2', 'x-ratelimit-reset': '3' };
    expect(waitHintMs(all, NOW)).to.equal(100);
    expect(waitHintMs({ ...all, 'retry-after-ms': '0' }, NOW)).to.equal(2000);
    expect(waitHintMs({ ...all, 'retry-after-ms': 'x', 'retry-after': '1.5' }, NOW)).to.equal(3000);
  });

  for (const [form, text] of [
    ['RFC 850', 'Thursday, 15-Jan-26 12:01:00 GMT'],
    ['asctime', 'Thu Jan 15 12:01:00 2026'],
  ] as const) {
    it(`reads a date in ${form} form as GMT, wherever the process runs`, () => {
      const zone = process.env['TZ'];
      process.env['TZ'] = 'America/New_York';
      try {
        expect(waitHintMs({ 'retry-after': text }, NOW)).to.equal(60_000);
      } finally {
        if (zone === undefined) delete process.env['TZ'];
        else process.env['TZ'] = zone;
      }
    });
  }
});
