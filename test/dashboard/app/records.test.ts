import { expect } from 'chai';
import { dayBefore, dayText, midnightOf } from '../../../builtins/dashboard/app/src/lib/days.ts';
import { sinceOf } from '../../../builtins/dashboard/app/src/lib/record-window.ts';
import { detailText, nearMiss } from '../../../builtins/dashboard/app/src/pages/audit/audit-text.ts';
import {
  changedParts,
  readText,
  textOf,
} from '../../../builtins/dashboard/app/src/pages/configuration/document-text.ts';
import { listOf, moved, numberOf, withInner, withMember } from '../../../builtins/dashboard/app/src/lib/form-values.ts';
import { diffLines } from '../../../builtins/dashboard/app/src/pages/configuration/line-diff.ts';
import { namesIn, stateOf } from '../../../builtins/dashboard/app/src/pages/keys/key-state.ts';
import { keyNameOf } from '../../../builtins/dashboard/app/src/pages/logs/key-names.ts';
import { logQuery, readFilters } from '../../../builtins/dashboard/app/src/pages/logs/log-filters.ts';
import { clientSnippet } from '../../../builtins/dashboard/app/src/pages/mcp/snippets.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const KEY = {
  id: 'k',
  key: 'gw_0...',
  name: 'billing',
  scopes: ['read_only'] as const,
  created_at: '2026-01-01T00:00:00Z',
  usage_count: 0,
  active: true,
};

describe('a comparison of two texts', () => {
  const shown = (before: string, after: string): string[] =>
    diffLines(before, after).map((line) =>
      line.kind === 'folded'
        ? `… ${line.count}`
        : `${line.kind === 'same' ? ' ' : line.kind === 'added' ? '+' : '-'}${line.text}`,
    );
  const numbers = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n');

  it('keeps what is common, and folds what is far from every change', () => {
    expect(shown('a\nb\nc', 'a\nx\nc')).to.deep.equal([' a', '-b', '+x', ' c']);
    expect(shown(numbers(20), numbers(20).replace('line 10', 'changed'))).to.deep.equal([
      '… 7',
      ' line 7',
      ' line 8',
      ' line 9',
      '-line 10',
      '+changed',
      ' line 11',
      ' line 12',
      ' line 13',
      '… 6',
    ]);
    expect(shown('a\nb', 'a\nb')).to.deep.equal(['… 2']);
  });

  it('finds lines that moved in as added alone, at the beginning and at the end', () => {
    expect(shown('b\nc', 'a\nb\nc')).to.deep.equal(['+a', ' b', ' c']);
    expect(shown('a', 'a\nb')).to.deep.equal([' a', '+b']);
    expect(shown('x\na\ny\nb', 'a\nb')).to.deep.equal(['-x', ' a', '-y', ' b']);
  });

  it('gives texts back that it was made of', () => {
    for (const [before, after] of [
      [numbers(30), numbers(10)],
      ['', 'a'],
      ['a\na\na', 'a'],
      [numbers(2000), numbers(2000).replaceAll('line', 'row')],
    ] as const) {
      const side = (other: string): string[] =>
        diffLines(before, after).flatMap((line) => (line.kind === 'folded' || line.kind === other ? [] : [line.text]));
      const folds = diffLines(before, after).reduce((sum, line) => sum + (line.kind === 'folded' ? line.count : 0), 0);
      expect([side('added').length + folds, side('removed').length + folds]).to.deep.equal([
        before.split('\n').length,
        after.split('\n').length,
      ]);
    }
  });
});

describe('the text of a configuration', () => {
  it('is read in both languages, and written in either', () => {
    const value = { strategy: { mode: 'single' }, targets: [{ virtual_key: 'echo' }] };
    for (const language of ['json', 'yaml'] as const)
      expect(readText(textOf(value, language), language)).to.deep.include({ isRead: true, value });
  });

  it('is read in YAML as the gateway reads a file: keys as they are written, merged maps, and no dates or bytes', () => {
    expect(
      readText(
        'aliases: {4.10: a, TRUE: b}\ntargets:\n- &first {virtual_key: echo}\n- {<<: *first, weight: 2}\n',
        'yaml',
      ),
    ).to.deep.include({
      isRead: true,
      value: {
        aliases: { '4.10': 'a', TRUE: 'b' },
        targets: [{ virtual_key: 'echo' }, { virtual_key: 'echo', weight: 2 }],
      },
    });
    for (const value of ['!!timestamp 2001-01-01', '!!binary aGk=', '!!set {a}'])
      expect(readText(`a: ${value}\n`, 'yaml'), value).to.deep.include({ isRead: false, line: 1 });
  });

  it('is sent as JSON was typed, with names that stand there twice', () => {
    const typed = '{"a": 1, "a": 2}';
    expect(readText(typed, 'json')).to.deep.include({ written: typed });
  });

  it('names the line of what cannot be read', () => {
    for (const [text, language, line] of [
      ['{\n  "a": 1,\n  "b" 2\n}', 'json', 3],
      ['{\n"a": [', 'json', 2],
      ['a: 1\nb: [', 'yaml', 2],
      ['a: 1\na: 2', 'yaml', 2],
    ] as const)
      expect(readText(text, language), text).to.deep.include({ isRead: false, line });
  });

  it('is not expanded without end', () => {
    const bomb = `a: &a [x, x, x, x, x, x, x, x, x]\n${'bcdefgh'
      .split('')
      .map((name, at) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdefg'[at]}`).join(', ')}]`)
      .join('\n')}`;
    expect(readText(bomb, 'yaml').isRead).to.equal(false);
  });

  it('differs in the parts that are named', () => {
    expect(changedParts({ a: 1, b: [1], c: {} }, { a: 1, b: [2], d: 1 })).to.deep.equal(['b', 'c', 'd']);
  });
});

describe('the fields of a configuration', () => {
  it('change one member and leave the others in their order', () => {
    expect(Object.entries(withMember({ a: 1, b: 2, c: 3 }, 'b', 4))).to.deep.equal([
      ['a', 1],
      ['b', 4],
      ['c', 3],
    ]);
    expect(withMember({ a: 1 }, 'a', undefined)).to.deep.equal({});
    expect(withInner({ retry: { attempts: 2 } }, 'retry', 'attempts', undefined)).to.deep.equal({});
    expect(withInner({}, 'retry', 'attempts', 3)).to.deep.equal({ retry: { attempts: 3 } });
    expect(Object.keys(withMember({}, '__proto__', 1))).to.deep.equal(['__proto__']);
  });

  it('mean numbers, names and nothing; what is none of them is for the gateway to refuse', () => {
    expect([numberOf(' 3 '), numberOf(''), numberOf('many')]).to.deep.equal([3, undefined, 'many']);
    expect([listOf('a, b,, '), listOf(' ')]).to.deep.equal([['a', 'b'], undefined]);
    expect([moved(['a', 'b'], 0, 1), moved(['a', 'b'], 0, -1)]).to.deep.equal([
      ['b', 'a'],
      ['a', 'b'],
    ]);
  });
});

describe('records', () => {
  it('are asked for with what is set alone', () => {
    expect(
      logQuery(readFilters(new URLSearchParams('window=1h&key=none&stage=all&offset=x&q=text')), NOW).toString(),
    ).to.equal('limit=50&offset=0&since=2026-11-22T11%3A00%3A00.000Z&stage=all&api_key_id=none');
    expect([sinceOf('', NOW), sinceOf('constructor', NOW)]).to.deep.equal([undefined, undefined]);
  });

  it('are looked for in the whole log by id, by part of an error and by outcome', () => {
    const asked = (search: string): string => logQuery(readFilters(new URLSearchParams(search)), NOW).toString();
    const id = 'Ab'.repeat(16);
    expect(asked(`find=${id}&cursor=c`)).to.equal(`limit=50&offset=0&trace_id=${id}`);
    expect(asked('find=+too+late+&offset=50&cursor=c')).to.equal('limit=50&text=too+late&cursor=c');
    expect(asked('outcome=failed&offset=50')).to.equal('limit=50&outcome=failed');
    expect(asked('find=ab')).to.equal('limit=50&offset=0');
  });

  it('name their key, and what became of it', () => {
    const keys = [KEY, { ...KEY, id: 'e', expires_at: '2026-11-21T00:00:00Z' }, { ...KEY, id: 'r', active: false }];
    expect(
      ['', 'k', 'e', 'r', 'gone', 'master-key:1'].map((id) => keyNameOf(id, { keys, isWhole: true }, NOW)),
    ).to.deep.equal([
      { name: 'No API key' },
      { name: 'billing' },
      { name: 'billing', mark: 'expired' },
      { name: 'billing', mark: 'revoked' },
      { name: 'gone', mark: 'deleted' },
      { name: 'Master key' },
    ]);
    expect(keyNameOf('gone', { keys, isWhole: false }, NOW)).to.deep.equal({ name: 'gone' });
    expect(stateOf(KEY, NOW)).to.equal('active');
    expect(namesIn(' a ,b,,')).to.deep.equal(['a', 'b']);
  });

  it('of the trail are found by exact actions, and a near miss is named', () => {
    const cases = [
      ['', undefined],
      ['key.create', undefined],
      ['key.creat', 'key.create'],
      ['KEY.CREATE', 'key.create'],
      ['keycreate', 'key.create'],
      ['key_create', 'key.create'],
      ['rollback', 'config.rollback'],
      ['xyz', undefined],
    ] as const;
    for (const [typed, meant] of cases) expect(nearMiss(typed), typed).to.equal(meant);
    expect([detailText('{"a":1}'), detailText('not JSON')]).to.deep.equal(['{\n  "a": 1\n}', 'not JSON']);
  });

  it('are purged from the midnight of a day that there is', () => {
    const day = dayText(new Date(2026, 2, 1, 23, 59));
    expect([day, dayBefore(new Date(2026, 2, 1), 30)]).to.deep.equal(['2026-03-01', '2026-01-30']);
    expect(midnightOf(day)).to.equal(new Date(2026, 2, 1).toISOString());
    expect([midnightOf(''), midnightOf('soon')]).to.deep.equal([undefined, undefined]);
  });
});

describe('what a client of the tools needs to know', () => {
  it('is JSON with the address of this gateway, and no credential', () => {
    expect(JSON.parse(clientSnippet('https://gw.example'))).to.deep.equal({
      mcpServers: {
        gw: { type: 'http', url: 'https://gw.example/mcp', headers: { Authorization: 'Bearer <your API key>' } },
      },
    });
  });
});
