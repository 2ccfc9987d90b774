import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { tableRows } from './tables.ts';
import { read, ROOT } from '../architecture/source.ts';

interface Page {
  readonly file: string;
  readonly title: string;
}

const PAGES: readonly Page[] = globSync('docs/decisions/0*.md', { cwd: ROOT })
  .map((path) => path.replaceAll('\\', '/'))
  .toSorted()
  .map((path) => ({ file: basename(path), title: /^# (.*)$/m.exec(read(path))?.[1] ?? '' }));

const rowOf = ({ file, title }: Page): string => `${file.slice(0, 4)} [${title}](${file})`;

/** Pages that the index lacks, and rows that are not of a page, or stand out of order. */
function differences(rows: readonly (readonly string[])[], pages: readonly Page[]): string[] {
  const listed = rows.map(([number, link]) => `${number} ${link}`);
  const wanted = pages.map(rowOf);
  return [
    ...wanted.filter((row) => !listed.includes(row)).map((row) => `missing: ${row}`),
    ...listed.filter((row, at) => !wanted.includes(row) || listed.indexOf(row) < at).map((row) => `too much: ${row}`),
    ...listed.filter((row, at) => at > 0 && row < (listed[at - 1] ?? '')).map((row) => `out of order: ${row}`),
  ];
}

describe('the index of decisions', () => {
  const rows = tableRows('decisions/README.md');

  it('lists every page by its number and title, and nothing else', () => {
    expect(PAGES.length).to.be.greaterThan(20);
    expect(differences(rows, PAGES)).to.deep.equal([]);
  });

  it('says of each whether it holds, and since when', () => {
    const wrong = rows.filter(
      ([, , status = '', date = '']) =>
        !/^(?:in force|replaced by \[\d{4}\]\(\d{4}-[\w-]+\.md\))$/.test(status) || !/^\d{4}-\d{2}-\d{2}$/.test(date),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('shows a page that is not listed, one that is gone, another title, a row twice and another order', () => {
    const pages = [
      { file: '0001-a.md', title: 'A' },
      { file: '0002-b.md', title: 'B' },
    ];
    const [first, second] = [
      ['0001', '[A](0001-a.md)'],
      ['0002', '[B](0002-b.md)'],
    ];
    expect(differences([first, second], pages)).to.deep.equal([]);
    expect(differences([first], pages)).to.have.lengthOf(1);
    expect(differences([first, second], pages.slice(0, 1))).to.have.lengthOf(1);
    expect(differences([['0001', '[C](0001-a.md)'], second], pages)).to.have.lengthOf(2);
    expect(differences([first, first, second], pages)).to.have.lengthOf(1);
    expect(differences([second, first], pages)).to.have.lengthOf(1);
  });
});
