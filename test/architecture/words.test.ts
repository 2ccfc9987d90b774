import { globSync } from 'node:fs';
import { expect } from 'chai';
import { filesIn, problemsIn, ROOT } from './source.ts';
import { bannedWords, leaningComments } from './word-rules.ts';

const CODE = filesIn('build', 'builtins', 'examples', 'host', 'plugins', 'providers', 'strategies', 'test');
const PAGES = globSync(['*.md', '*.yaml', 'docs/**/*.md', 'examples/**/*.{md,sh,yaml}', 'test/**/*.{md,py,sh}'], {
  cwd: ROOT,
  exclude: ['**/node_modules/**'],
}).map((path) => path.replaceAll('\\', '/'));

/** Files whose data must hold such words, by what their paths begin with, and why. */
const EXEMPT: Readonly<Record<string, string>> = {
  'test/fixtures/': 'what vendors wrote',
  'test/architecture/words.test.ts': 'examples of what is refused',
  'plugins/prompt-shield/rules.ts': 'patterns of attacks',
  'test/plugins/prompt-shield.test.ts': 'attacks',
  'test/kit/postgres-programs.ts': 'the name of a user',
};

const isOurs = (path: string): boolean => !Object.keys(EXEMPT).some((start) => path.startsWith(start));
const FILES = [...CODE, ...PAGES].filter(isOurs);

describe('words that a stranger does not understand at first sight', () => {
  it('stand in no comment, text or page', () => {
    expect(FILES).to.include.members([
      'README.md',
      'SECURITY.md',
      'config.example.yaml',
      'docs/errors.md',
      'host/main.ts',
      'test/architecture/source.ts',
    ]);
    expect(problemsIn(FILES, bannedWords)).to.deep.equal([]);
  });

  it('are named with file and line', () => {
    expect(
      bannedWords(
        'host/planted.ts',
        'const a = 1;\n\n/** Two lines,\n * and somebody in the second. */\nconst b = 2;\n',
      ),
    ).to.deep.equal(['host/planted.ts:4: somebody']);
    expect(bannedWords('docs/planted.md', '# Title\n\nThe text is no\ntitle.\n')).to.deep.equal([
      'docs/planted.md:3: is no title.',
    ]);
  });

  for (const source of [
    '// the reply was stillborn',
    '/* its own affair */',
    '/** Whoever asks waits. */',
    "it('is told', () => {});",
    'const message = `${name} is no port number`;',
    'const message = `the port is no ${kind}`;',
    "throw new Error('they are no functions');",
    '// what is no JSON is refused',
    '// this should be no object',
    '/**\n * The text is\n * no title.\n */',
    "// the vendor's words go to the client",
    "it('fails in the vendor\\'s words', () => {});",
    '// each client spells it differently',
    '// Nobody knows it.',
  ])
    it(`are refused: ${JSON.stringify(source)}`, () => {
      expect(bannedWords('host/planted.ts', source)).to.have.lengthOf(1);
    });

  for (const source of [
    '// there is no port, there was no answer, and there can be no other',
    '// it is no longer open, and is no more than a name',
    '// is not a port number',
    '// another spelling of a path',
    '// foretold, a loophole, an aspell dictionary',
    'const told = new Set(); told.add(1);',
    'class Reader { #told = 0; }',
    "import { waitMs } from './patience.ts';",
    "export { waitMs } from './patience.ts';",
    "const { waitMs } = await import('./patience.ts');",
    'const pattern = /nobody/;',
    '// a list of words, in other words',
  ])
    it(`are not seen in: ${JSON.stringify(source)}`, () => {
      expect(bannedWords('host/planted.ts', source)).to.deep.equal([]);
    });
});

describe('doc comments', () => {
  it('have a subject of their own', () => {
    expect(problemsIn(CODE, leaningComments)).to.deep.equal([]);
  });

  for (const source of [
    '/** The same for one attempt. */',
    '/**\n * Of a stream the last chunk.\n */',
    '  /** Of these, the first. */',
  ])
    it(`are refused: ${JSON.stringify(source)}`, () => {
      expect(leaningComments('host/planted.ts', `const a = 1;\n${source}\nconst b = 2;\n`)).to.have.lengthOf(1);
    });

  for (const source of [
    '/** The deadline of one attempt. */',
    '/** Offers of tools. */',
    '// the same for one attempt',
    "const text = '/** The same. */';",
  ])
    it(`are taken: ${JSON.stringify(source)}`, () => {
      expect(leaningComments('host/planted.ts', `const a = 1;\n${source}\nconst b = 2;\n`)).to.deep.equal([]);
    });

  it('are named with file and line', () => {
    expect(leaningComments('host/planted.ts', 'const a = 1;\n\n/** The same. */\nconst b = 2;\n')).to.deep.equal([
      'host/planted.ts:3: a comment that begins "The same" has no subject',
    ]);
  });
});
