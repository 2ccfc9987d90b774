import { globSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect } from 'chai';
import { read, ROOT } from '../architecture/source.ts';
import { MOST_WORDS, sentenceProblems, sentencesOf, wordsIn } from './sentences.ts';

const PAGES = globSync('docs/**/*.md', { cwd: ROOT }).filter((path) => !path.includes('/decisions/'));
const NEW = [...PAGES.filter((path) => /^docs\/(?:tutorials|how-to)\//.test(path)), 'docs/README.md'];

/** How many sentences of each older page are longer than they should be. The numbers may only fall. */
const LONG = JSON.parse(readFileSync(new URL('long-sentences.json', import.meta.url), 'utf8')) as Record<
  string,
  number
>;

const longIn = (page: string): number => sentencesOf(read(page)).filter((text) => wordsIn(text) > MOST_WORDS).length;

describe('sentences of pages', () => {
  for (const page of NEW)
    it(`are short and have one idea: ${page}`, () => {
      expect(sentenceProblems(read(page))).to.deep.equal([]);
    });

  it('become shorter on older pages, and never longer', () => {
    const older = PAGES.filter((path) => !NEW.includes(path));
    const more = older.filter((path) => longIn(path) > (LONG[path] ?? 0)).map((path) => `${path}: ${longIn(path)}`);
    expect(more, 'more sentences of over 25 words than in test/docs/long-sentences.json').to.deep.equal([]);
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
    expect(linked.filter((path) => path !== 'docs/decisions/README.md')).to.have.members(pages);
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
