import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { read, ROOT } from '../architecture/source.ts';
import { tableRows } from './tables.ts';

const TITLES =
  /\b(?:it|inSoak|describe|forBackends)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;

/** Titles of a test file, as they are written. */
const titlesOf = (file: string): readonly string[] =>
  [...read(file).matchAll(TITLES)].map(([, single, double, template]) => single ?? double ?? template ?? '');

/** What is wrong with the tests that a row names. */
function problemsOf(held: string): readonly string[] {
  const cited = [...held.matchAll(/(test\/[\w/.-]+\.test\.ts) "([^"]+)"/g)];
  const rest = held.replaceAll(/test\/[\w/.-]+\.test\.ts "[^"]+"/g, '').replaceAll(/[;\s]/g, '');
  return [
    ...(cited.length === 0 ? ['names no test'] : []),
    ...(rest === '' ? [] : [`holds more than tests: ${rest}`]),
    ...cited.flatMap(([, file = '', words = '']) => {
      if (!existsSync(join(ROOT, file))) return [`${file} does not exist`];
      return titlesOf(file).some((title) => title.includes(words)) ? [] : [`${file} has no title with "${words}"`];
    }),
  ];
}

describe('docs/threat-model.md', () => {
  const rows = tableRows('threat-model.md').filter(([number = '']) => /^T\d+$/.test(number));

  it('has every threat once, in order, with boundary, asset, mitigation and test', () => {
    expect(rows.map(([number]) => number)).to.deep.equal(rows.map((_row, at) => `T${at + 1}`));
    expect(rows.length).to.be.greaterThan(20);
    for (const row of rows)
      expect(
        row.filter((cell) => cell.trim() !== ''),
        row[0],
      ).to.have.length(6);
  });

  it('names tests that exist, by words of their titles', () => {
    const wrong = rows.flatMap(([number, , , , , held = '']) =>
      problemsOf(held).map((problem) => `${number}: ${problem}`),
    );
    expect(wrong).to.deep.equal([]);
  });

  it('names assets that it explains', () => {
    const assets = new Set(tableRows('threat-model.md').map(([first = '']) => first));
    for (const [number, , asset = ''] of rows)
      for (const each of asset.split(', '))
        expect(each === 'all' || assets.has(each), `${number} ${each}`).to.equal(true);
  });

  it('is held to by a check that finds what is gone', () => {
    expect(problemsOf('')).to.deep.equal(['names no test']);
    expect(problemsOf('test/docs/none.test.ts "x"')).to.deep.equal(['test/docs/none.test.ts does not exist']);
    expect(problemsOf('test/docs/threat-model.test.ts "no such words"')).to.have.length(1);
    expect(problemsOf('test/docs/threat-model.test.ts "names assets"')).to.deep.equal([]);
    expect(problemsOf('test/docs/threat-model.test.ts "names assets"; and more')).to.have.length(1);
  });
});
