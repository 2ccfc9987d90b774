import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { ROOT } from '../architecture/source.ts';
import { codes, tableRows } from './tables.ts';

/** Files that a row names and that do not exist; a name without a slash is not one. */
const absentFiles = (rows: readonly (readonly string[])[]): string[] =>
  rows.flatMap(([term, , where]) =>
    codes(where)
      .filter((path) => path.includes('/') && !existsSync(`${ROOT}${path}`))
      .map((path) => `${term}: ${path}`),
  );

describe('docs/glossary.md', () => {
  const rows = tableRows('glossary.md');

  it('names a meaning and a place for each term, each once, in order', () => {
    const terms = rows.map(([term = '']) => term);
    expect(terms).to.include.members([
      'target',
      'exchange',
      'attempt',
      'turn',
      'generation',
      'lease',
      'ledger',
      'outbox',
    ]);
    expect(terms).to.deep.equal([...new Set(terms)].toSorted());
    expect(rows.filter((row) => row.length !== 3 || row.includes(''))).to.deep.equal([]);
  });

  it('names files that exist', () => {
    expect(absentFiles(rows)).to.deep.equal([]);
    expect(absentFiles([['term', 'meaning', '`host/absent.ts`']])).to.deep.equal(['term: host/absent.ts']);
  });
});
