import { expect } from 'chai';
import { readConfig } from '../../../builtins/dashboard/app/src/lib/config.ts';
import { returnPath } from '../../../builtins/dashboard/app/src/lib/destination.ts';
import {
  compact,
  count,
  duration,
  integer,
  percent,
  relativeTime,
  usd,
} from '../../../builtins/dashboard/app/src/lib/format.ts';
import { namesIn, rowsIn } from '../../../builtins/dashboard/app/src/lib/fields.ts';
import { offsetIn, withQuery } from '../../../builtins/dashboard/app/src/lib/query-string.ts';
import { redactedPaths } from '../../../builtins/dashboard/app/src/lib/redaction.ts';
import { stageName, stageTone } from '../../../builtins/dashboard/app/src/lib/stages.ts';
import { nextTheme, readTheme } from '../../../builtins/dashboard/app/src/lib/theme.ts';
import { componentTone } from '../../../builtins/dashboard/app/src/lib/tones.ts';
import { windowHours, windowStart } from '../../../builtins/dashboard/app/src/lib/windows.ts';

/** Each input beside what it is shown as. */
function table<Input>(
  name: string,
  show: (input: Input) => unknown,
  rows: readonly (readonly [Input, unknown])[],
): void {
  it(name, () => {
    for (const [input, shown] of rows) expect(show(input), JSON.stringify(input)).to.deep.equal(shown);
  });
}

describe('figures of the dashboard', () => {
  table(
    'are a dash where nothing is known',
    (show: (value: number | null | undefined) => string) => [show(null), show(undefined), show(Number.NaN)],
    [integer, compact, usd, duration, percent].map((show) => [show, ['–', '–', '–']] as const),
  );
  table('show dollars, small ones by two significant digits', usd, [
    [0, '$0'],
    [1234.5, '$1,234.50'],
    [0.01, '$0.01'],
    [0.00975, '$0.0098'],
    [0.0000123, '$0.000012'],
  ]);
  table('show durations in milliseconds, then seconds', duration, [
    [0, '0 ms'],
    [2.949, '2.9 ms'],
    [86.4, '86 ms'],
    [999, '999 ms'],
    [1000, '1.00 s'],
    [4010, '4.01 s'],
    [61_234, '61.2 s'],
  ]);
  table('show shares', percent, [
    [0, '0%'],
    [1, '100%'],
    [0.238, '23.8%'],
    [0.0042, '0.42%'],
  ]);
  table('shorten what is long', compact, [
    [99_999, '99,999'],
    [123_456, '123.5K'],
    [7_000_000, '7M'],
  ]);
  table('agree with their nouns', (value: number) => count(value, 'body', 'bodies'), [
    [1, '1 body'],
    [0, '0 bodies'],
    [1200, '1,200 bodies'],
  ]);
});

describe('moments of the dashboard', () => {
  const now = Date.parse('2026-01-02T12:00:00Z');
  table('are shown by how far they are away', (apart: number) => relativeTime(now + apart, now), [
    [0, 'just now'],
    [-9000, 'just now'],
    [-45_000, '45 sec. ago'],
    [-120_000, '2 min. ago'],
    [-7_200_000, '2 hr. ago'],
    [86_400_000 * 30, 'in 30 days'],
  ]);
  table('begin a window where it says', (value: string | null) => windowHours(value), [
    ['1', 1],
    ['168', 168],
    [null, 24],
    ['7', 24],
    ['1e3', 24],
  ]);
  it('are sent as the gateway reads them', () => {
    expect(windowStart(24, now)).to.equal('2026-01-01T12:00:00.000Z');
  });
});

describe('what a newer gateway may say', () => {
  it('is shown by its own name, in no colour', () => {
    expect([componentTone('resting'), stageTone('before_lunch'), stageName('before_lunch')]).to.deep.equal([
      'neutral',
      'neutral',
      'before_lunch',
    ]);
  });
});

describe('the theme', () => {
  it('goes from the system to light to dark and back', () => {
    expect(['system', 'light', 'dark'].map((theme) => nextTheme(readTheme(theme)))).to.deep.equal([
      'light',
      'dark',
      'system',
    ]);
  });
  table("is the system's where nothing else is stored", readTheme, [
    [null, 'system'],
    ['purple', 'system'],
    ['dark', 'dark'],
  ]);
});

describe('the way back after signing in', () => {
  table('leads into this application only', returnPath, [
    ['/logs?model=m#top', '/logs?model=m#top'],
    [null, '/overview'],
    ['', '/overview'],
    ['//evil.example', '/overview'],
    ['/\\evil.example', '/overview'],
    ['https://evil.example/', '/overview'],
    ['javascript:alert(1)', '/overview'],
    ['/login?from=/logs', '/overview'],
    ['/loginhistory', '/loginhistory'],
    ['/\t/evil.example', '/overview'],
    ['/\n\\evil.example', '/overview'],
    ['/a/..//evil.example', '/overview'],
    ['/%5Cevil.example', '/%5Cevil.example'],
    ['/logs?q=//a', '/logs?q=//a'],
  ]);
});

describe('config.json', () => {
  table(
    'names an origin, or nothing for the one that it came from',
    (gatewayBaseUrl: string) => readConfig({ gatewayBaseUrl }).gatewayBaseUrl,
    [
      ['', ''],
      ['https://gw.example', 'https://gw.example'],
      ['http://127.0.0.1:8080/', 'http://127.0.0.1:8080'],
    ],
  );
  for (const gatewayBaseUrl of [
    'gw.example',
    'ftp://gw.example',
    'https://user@gw.example',
    'https://:secret@gw.example',
    'https://gw.example/path',
    'https://gw.example?x',
    'https://gw.example/?',
    'https://gw.example#',
    7,
    null,
  ]) {
    it(`is refused with ${JSON.stringify(gatewayBaseUrl)}`, () => {
      expect(() => readConfig({ gatewayBaseUrl })).to.throw(/gatewayBaseUrl/);
    });
  }
  it('is refused when it is something else', () => {
    for (const value of [null, [], 'text', {}]) expect(() => readConfig(value)).to.throw(/gatewayBaseUrl/);
  });
});

describe('addresses', () => {
  it('leave out what has no value', () => {
    expect([withQuery('/a', { b: '', c: undefined, d: null }), withQuery('/a', { b: 'x y', n: 0 })]).to.deep.equal([
      '/a',
      '/a?b=x+y&n=0',
    ]);
  });
});

describe('what an address or an answer says', () => {
  it('is where a list begins, if it is a whole number above 0', () => {
    const offsets = ['', '-5', '0.5', 'abc', '1e400', '9'.repeat(30), '50'].map((text) =>
      offsetIn(new URLSearchParams({ offset: text })),
    );
    expect([...offsets, offsetIn(new URLSearchParams())]).to.deep.equal([0, 0, 0, 0, 0, 0, 50, 0]);
  });

  it('is a list of rows, or of names, and none where it is something else', () => {
    const rows = [undefined, null, 'text', { a: 1 }, [null, 7, { id: 'm' }]].map((value) =>
      rowsIn(value as readonly object[]),
    );
    expect(rows).to.deep.equal([[], [], [], [], [{ id: 'm' }]]);
    expect([undefined, null, 'text', [1], { m: 1 }].map(namesIn)).to.deep.equal([[], [], [], [], ['m']]);
  });
});

describe('withheld parts of a configuration', () => {
  it('are named by their paths, a withheld name by its map', () => {
    const config = {
      mcp_servers: [{ name: 'a', headers: { '[REDACTED_KEY_0]': '[REDACTED]' }, url: 'https://u:[REDACTED]@h' }],
      plugins: [{ config: { deep: { list: ['x', '[REDACTED]'] } } }],
      targets: [{ virtual_key: 'a', weight: 1 }],
      note: '${VARIABLE}',
    };
    expect(redactedPaths(config)).to.deep.equal([
      'mcp_servers[0].headers',
      'mcp_servers[0].url',
      'plugins[0].config.deep.list[1]',
    ]);
    expect(redactedPaths({ targets: [] })).to.deep.equal([]);
  });
});
