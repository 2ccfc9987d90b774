import { existsSync, globSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { anchorsIn, brokenCitations, type Citable, ruleIdsIn } from './citation-rules.ts';
import { filesIn, problemsIn, read, ROOT } from './source.ts';

const found = (patterns: readonly string[]): string[] =>
  globSync([...patterns], { cwd: ROOT, exclude: ['**/node_modules/**', '**/dist/**'] })
    .map((path) => path.replaceAll('\\', '/'))
    .toSorted();

const CODE = filesIn('build', 'builtins', 'examples', 'host', 'plugins', 'providers', 'strategies', 'test');
const PAGES = found([
  '*.md',
  '*.yaml',
  'docs/**/*.md',
  'examples/**/*.{md,sh,yaml}',
  'test/**/*.{md,py,sh,yaml}',
  'test/fixtures/sources.json',
  'test/fixtures/promised/*.json',
]);
/** Examples of what is refused. */
const PLANTED = 'test/architecture/citations.test.ts';
const FILES = [...CODE, ...PAGES].filter((path) => path !== PLANTED);

const anchors = new Map(PAGES.filter((path) => path.endsWith('.md')).map((path) => [path, anchorsIn(read(path))]));
const CITABLE: Citable = {
  anchorsOf: (path) => anchors.get(path),
  exists: (path) => existsSync(`${ROOT}${path}`),
  decisions: new Set(found(['docs/decisions/0*.md']).map((path) => basename(path).slice(0, 4))),
  ruleIds: new Set(ruleIdsIn(read('docs/configuration.md'))),
};

describe('citations in comments and pages', () => {
  it('lead to what is in the repository', () => {
    expect(FILES).to.include.members([
      'README.md',
      'docs/reference/providers.md',
      'host/main.ts',
      'providers/xai/index.ts',
    ]);
    expect(CITABLE.ruleIds).to.include.keys('DC01', 'CV01', 'CV18b', 'BV01', 'PB01', 'MV01', 'WN01');
    expect(CITABLE.decisions).to.include.keys('0001');
    expect(problemsIn(FILES, brokenCitations(CITABLE))).to.deep.equal([]);
  });
});

/** One page with two headings, one decision, one rule, one folder. */
const SMALL: Citable = {
  anchorsOf: (path) =>
    path === 'docs/page.md' ? anchorsIn('# Title\n\n## Retry after: `x`\n\n```\n# no heading\n```\n') : undefined,
  exists: (path) => path === 'docs/folder',
  decisions: new Set(['0006']),
  ruleIds: new Set(['CV01']),
};
const inCode = (comment: string): string[] => brokenCitations(SMALL)('host/planted.ts', `const a = 1;\n${comment}\n`);
const inPage = (text: string): string[] => brokenCitations(SMALL)('docs/planted.md', `# Title\n\n${text}\n`);

describe('a citation', () => {
  for (const comment of [
    '/** Rules: docs/absent.md. */',
    '/** See docs/page.md#absent. */',
    '// docs/page.md, "Absent"',
    '/** See docs/page.md#no-heading. */',
    '// see docs/nowhere',
    '/** Why: decision 0099. */',
    '// docs/decisions/0099',
    '/** An alias (`CV99`). */',
    '/** Source: providers reference 5.1. */',
    '/**\n * Source: data-plane\n * reference 8.1.\n */',
    '// as the ingress reference, section 14, has it',
    '/** Reference 4.2 wins. */',
    '/** As the reference says. */',
    "// in the reference's order",
    '/** Checks in the order of the reference. */',
    '/** Source: specification 4.3. */',
    "/** The specification's two minutes. */",
    '/** See section 7 of the specification. */',
    '/** One process (RB30). */',
  ])
    it(`is refused: ${JSON.stringify(comment)}`, () => {
      expect(inCode(comment)).to.have.lengthOf.at.least(1);
      expect(inPage(comment)).to.have.lengthOf.at.least(1);
    });

  for (const comment of [
    '/** See docs/page.md. */',
    '/** See docs/page.md#retry-after-x. */',
    '// docs/page.md, "Retry after: `x`"',
    '// below docs/folder',
    '/** Why: decision 0006, docs/decisions/0006. */',
    '/** Refused as `CV01`. */',
    '/** Source: OpenTelemetry specification, "Environment Variables", 2026-10-30. */',
    '/** Source: Cohere API reference, "Chat" v2, 2026-11-21. */',
    '/** RFC 9112, section 9.6. */',
    '/** What a schema says beside its reference. */',
    '/** Source: platform.claude.com/docs/en/api/messages; ollama/ollama, docs/api/errors.mdx. */',
  ])
    it(`is taken: ${JSON.stringify(comment)}`, () => {
      expect(inCode(comment)).to.deep.equal([]);
      expect(inPage(comment)).to.deep.equal([]);
    });

  it('is looked for in comments of code, and not in its texts', () => {
    expect(inCode("const text = 'see docs/absent.md and CV99';")).to.deep.equal([]);
  });

  it('is looked for in the links of a page', () => {
    expect(inPage('[a](page.md#title), [b](#title), [c](folder/), [d](https://example.com/docs/x.md)')).to.deep.equal([
      'docs/planted.md:3: there is no docs/planted.md',
    ]);
    expect(inPage('[a](absent.md)\n[b](page.md#absent)')).to.deep.equal([
      'docs/planted.md:3: there is no docs/absent.md',
      'docs/planted.md:4: docs/page.md has no heading #absent',
    ]);
  });

  it('is named with file and line', () => {
    expect(inCode('/**\n * Two lines, and\n * CV99 in the third.\n */')).to.deep.equal([
      'host/planted.ts:4: no page lists the rule CV99',
    ]);
  });
});
