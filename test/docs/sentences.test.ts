import { globSync } from 'node:fs';
import { posix } from 'node:path';
import { expect } from 'chai';
import { read, ROOT } from '../architecture/source.ts';
import { MOST_WORDS, sentenceProblems, sentencesOf, wordsIn } from './sentences.ts';

const PAGES = globSync('docs/**/*.md', { cwd: ROOT }).filter((path) => !path.includes('/decisions/'));
const NEW = [...PAGES.filter((path) => /^docs\/(?:tutorials|how-to)\//.test(path)), 'docs/README.md'];

/** How many sentences of older pages may be longer than they should be, all pages together. The number may only fall. */
const MOST_LONG = 450;

const longIn = (page: string): number => sentencesOf(read(page)).filter((text) => wordsIn(text) > MOST_WORDS).length;

describe('sentences of pages', () => {
  for (const page of NEW)
    it(`are short and have one idea: ${page}`, () => {
      expect(sentenceProblems(read(page))).to.deep.equal([]);
    });

  it('become shorter on older pages', () => {
    const older = PAGES.filter((path) => !NEW.includes(path)).map((path) => [path, longIn(path)] as const);
    const all = older.reduce((sum, [, count]) => sum + count, 0);
    const worst = older.toSorted(([, one], [, other]) => other - one).slice(0, 10);
    expect(all, `sentences of over ${MOST_WORDS} words; most stand in ${worst.join(' ')}`).to.be.at.most(MOST_LONG);
  });

  it('are found without code, tables and headings', () => {
    const page =
      '# A heading of a page\n\nOne `a b c` two. Three:\n\n- four\n- five; six; seven\n\n| a | b |\n\n```sh\nrun\n```\n';
    expect(sentencesOf(page)).to.deep.equal(['One code two.', 'Three:', 'four', 'five; six; seven']);
    expect(sentenceProblems(`${page}\nThis will do.`)).to.have.lengthOf(2);
    expect(sentenceProblems(`${'word '.repeat(26)}.`)).to.have.lengthOf(2);
  });
});

describe('the index of the documentation', () => {
  const index = read('docs/README.md');
  const linked = [...index.matchAll(/\]\(([^)#]+)/g)].map(([, to = '']) => posix.join('docs', to));

  it('has every page once', () => {
    const pages = PAGES.filter((path) => path !== 'docs/README.md');
    const timesOf = (path: string): number => linked.filter((each) => each === path).length;
    expect(pages.filter((path) => timesOf(path) !== 1)).to.deep.equal([]);
    expect(linked.filter((path) => !pages.includes(path) && path !== 'docs/decisions/README.md')).to.deep.equal([]);
  });

  it('has how-to pages with When, Steps, Check and what to do if it goes wrong', () => {
    for (const page of PAGES.filter((path) => path.startsWith('docs/how-to/'))) {
      const titles = [...read(page).matchAll(/^## (.+)$/gm)].map(([, title]) => title);
      expect(
        titles.filter((title) => ['When', 'Steps', 'Check', 'If it goes wrong'].includes(title ?? '')),
        page,
      ).to.deep.equal(['When', 'Steps', 'Check', 'If it goes wrong']);
      expect(read(page).split('\n')[0]?.split(' ').length, page).to.be.lessThan(8);
    }
  });
});
