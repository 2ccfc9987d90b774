import { globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { THEME_KEY } from '../../../builtins/dashboard/app/src/lib/theme.ts';
import { SECURITY_HEADERS } from '../../../host/http/reply.ts';
import { childrenOf, filesIn, type Node, nodesOf, read, ROOT } from '../../architecture/source.ts';

const APP = 'builtins/dashboard/app';
const COMPONENTS = filesIn(`${APP}/src`).filter((path) => path.endsWith('.tsx'));
const STYLES = globSync(`${APP}/src/**/*.css`, { cwd: ROOT });
const PAGE = read(`${APP}/index.html`);

/** Texts that an expression may come to: `a ? 'x' : 'y'`; of a template what stands before its first value, with a star. */
function textsIn(node: Node): string[] {
  if (node.type === 'TemplateLiteral') return [`${String(node['quasis'][0].value.cooked)}*`];
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? [node['value']] : [];
  if (node.type === 'ConditionalExpression')
    return [...textsIn(node['consequent'] as Node), ...textsIn(node['alternate'] as Node)];
  return childrenOf(node).flatMap(textsIn);
}

function classesUsed(path: string, source: string): string[] {
  return nodesOf(path, source, 'JSXAttribute')
    .filter(({ name }) => name.name === 'className')
    .flatMap(({ value }) => textsIn(value as Node))
    .flatMap((text) => text.split(/\s+/));
}

function classesStyled(css: string): string[] {
  const selectors = css.replaceAll(/\/\*.*?\*\/|@import[^;]*;/gs, '').replaceAll(/\{[^{}]*\}/g, '{}');
  return [...selectors.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name ?? '');
}

/** What a component writes into the page besides text: styles, markup, and code by its attributes. */
function markupIn(path: string, source: string): string[] {
  const refused = new Set(['style', 'dangerouslySetInnerHTML', 'srcDoc']);
  const attributes = nodesOf(path, source, 'JSXAttribute')
    .filter(({ name }) => refused.has(String(name.name)))
    .map(({ name }) => `${path}: ${String(name.name)}`);
  const elements = nodesOf(path, source, 'JSXOpeningElement')
    .filter(({ name }) => name.name === 'style' || name.name === 'script')
    .map(({ name }) => `${path}: <${String(name.name)}>`);
  const writes = nodesOf(path, source, 'MemberExpression')
    .filter(({ property }) => /^(innerHTML|outerHTML|insertAdjacentHTML)$/.test(String(property.name)))
    .map(({ property }) => `${path}: ${String(property.name)}`);
  return [...attributes, ...elements, ...writes];
}

describe('the dashboard under the policy of its pages', () => {
  it('writes no style, no script and no markup into a page', () => {
    expect(COMPONENTS).to.have.length.above(20);
    expect(filesIn(`${APP}/src`).flatMap((path) => markupIn(path, read(path)))).to.deep.equal([]);
  });

  for (const source of [
    "const a = <p style={{ color: 'red' }} />;",
    'const a = <p dangerouslySetInnerHTML={{ __html: text }} />;',
    'const a = <style>{css}</style>;',
    'element.innerHTML = text;',
  ]) {
    it(`would find ${source}`, () => {
      expect(markupIn('planted.tsx', source)).to.have.lengthOf(1);
    });
  }

  it('has a page that holds no code and no style of its own', () => {
    expect(PAGE).not.to.match(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
    for (const [tag] of PAGE.matchAll(/<script[^>]*>/g)) expect(tag).to.contain(' src="/');
    expect(PAGE)
      .to.match(/<script[^>]*><\/script>/)
      .and.not.to.match(/<script[^>]*>[^<]/);
  });

  it('is served with a policy that allows nothing but its own origin', () => {
    const policy = SECURITY_HEADERS[SECURITY_HEADERS.indexOf('Content-Security-Policy') + 1];
    expect(policy).to.equal(
      "default-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'",
    );
  });

  it('names itself in its head, in both themes', () => {
    expect(PAGE)
      .to.match(/<html lang="en">/)
      .and.to.match(/<title>gw<\/title>/)
      .and.to.match(/name="viewport" content="width=device-width, initial-scale=1"/);
    for (const scheme of ['light', 'dark'])
      expect(PAGE).to.match(
        new RegExp(`name="theme-color" media="\\(prefers-color-scheme: ${scheme}\\)" content="#[0-9a-f]{6}"`),
      );
    expect(PAGE).to.contain('href="/favicon.svg"');
  });

  it('applies the theme before anything is drawn, by the key that the application writes', () => {
    expect(PAGE.indexOf('src="/theme.js"')).to.be.within(0, PAGE.indexOf('</head>'));
    expect(read(`${APP}/public/theme.js`)).to.contain(`localStorage.getItem('${THEME_KEY}')`);
  });
});

describe('the classes of the dashboard', () => {
  /** Parts of libraries, which they name themselves. */
  const isTheirs = (name: string): boolean => /^(cm|recharts)-/.test(name);
  const used = new Set(COMPONENTS.flatMap((path) => classesUsed(path, read(path))));
  const styled = new Set(STYLES.flatMap((path) => classesStyled(readFileSync(`${ROOT}${path}`, 'utf8'))));

  const beginnings = [...used].filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));

  it('are all used by a component', () => {
    expect(
      [...styled].filter(
        (name) => !used.has(name) && !beginnings.some((start) => name.startsWith(start)) && !isTheirs(name),
      ),
    ).to.deep.equal([]);
  });
  it('are all styled', () => {
    expect([...used].filter((name) => name !== '' && !name.endsWith('*') && !styled.has(name))).to.deep.equal([]);
  });

  it('are read from components and style sheets', () => {
    expect(
      classesUsed(
        'planted.tsx',
        "const a = <p className={isWide ? 'one two' : 'three'}><b className={`x-${y}`} /></p>;",
      ),
    ).to.deep.equal(['one', 'two', 'three', 'x-*']);
    expect(
      classesStyled(
        '/* .not */ .one > .two:hover, a.three[data-x=".no"] { margin: .5em; } @media (width <= 1px) { .four { top: 0; } }',
      ),
    )
      .to.include.members(['one', 'two', 'three', 'four'])
      .and.not.include('not');
  });
});
