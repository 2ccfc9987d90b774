import { expect } from 'chai';
import { BUILTINS, MODULES } from '../../builtins/manifest.ts';
import { MANIFEST, manifestProblems, moduleFiles, type ModuleFile, undocumented, untested } from './manifest-rules.ts';
import { GAPS } from '../providers/places.ts';
import { filesIn, read } from './source.ts';

describe('the manifest', () => {
  const modules = moduleFiles(filesIn('builtins', 'providers', 'strategies', 'plugins'), read);
  const governed = modules.filter(({ root }) => root !== 'builtins');
  /** What test/providers/places.test.ts does not hold. */
  const withoutPlaces = governed.filter(({ root }) => root !== 'providers');
  const isUnlisted = GAPS.some(({ file }) => file === MANIFEST);

  it('lists every module file once, sorted by kind and path', function test() {
    if (isUnlisted) this.skip(); // test/providers/places.test.ts names what is missing
    expect(manifestProblems(read(MANIFEST), modules)).to.deep.equal([]);
  });

  it('gives every provider, strategy and plugin the name of its file', function test() {
    if (isUnlisted) this.skip();
    const kinds = { provider: 'providers', strategy: 'strategies', plugin: 'plugins' } as const;
    expect(MODULES.map(({ kind, name }) => `${kinds[kind]}/${name}`)).to.have.members(
      governed.map(({ root, name }) => `${root}/${name}`),
    );
  });

  it('names no builtin twice', () => {
    expect(new Set(BUILTINS.map(({ name }) => name)).size).to.equal(BUILTINS.length);
  });

  it('has a test named after every strategy and plugin', () => {
    const tests = filesIn('test')
      .filter((path) => path.endsWith('.test.ts'))
      .map((path) => ({ path, source: read(path) }));
    expect(untested(withoutPlaces, tests)).to.deep.equal([]);
  });

  it('has a row in docs/plugins.md or docs/strategies.md for every strategy and plugin', () => {
    expect(undocumented(withoutPlaces, read('docs/plugins.md') + read('docs/strategies.md'))).to.deep.equal([]);
  });
});

describe('the manifest rules', () => {
  const one: ModuleFile = { root: 'builtins', name: 'b', path: 'builtins/a/b.ts' };
  const two: ModuleFile = { root: 'providers', name: 'acme', path: 'providers/acme/index.ts' };
  const three: ModuleFile = { root: 'plugins', name: 'guard', path: 'plugins/guard.ts' };
  const manifest = (imports: string, arrays: string): string =>
    `import type { X } from '../host/x.ts';\n${imports}\n${arrays}`;
  const imported =
    "import b from './a/b.ts';\nimport acme from '../providers/acme/index.ts';\nimport guard from '../plugins/guard.ts';";
  const listed = 'export const BUILTINS = [b];\nexport const MODULES = [acme, guard];';

  it('accept a manifest that is complete and in order', () => {
    expect(manifestProblems(manifest(imported, listed), [one, two, three])).to.deep.equal([]);
  });

  it('refuse one that leaves a module out, or lists what is none', () => {
    const four: ModuleFile = { root: 'strategies', name: 'odd', path: 'strategies/odd.ts' };
    expect(manifestProblems(manifest(imported, listed), [one, two, three, four])).to.deep.equal([
      'strategies/odd.ts is not imported',
    ]);
    expect(manifestProblems(manifest(imported, listed), [one, two])).to.deep.equal([
      'plugins/guard.ts is imported but is not a module file',
    ]);
  });

  it('refuse one that is out of order', () => {
    const swapped =
      "import b from './a/b.ts';\nimport guard from '../plugins/guard.ts';\nimport acme from '../providers/acme/index.ts';";
    expect(
      manifestProblems(
        manifest(swapped, 'const x = 1;\nexport const BUILTINS = [b];\nexport const MODULES = [guard, acme];'),
        [one, two, three],
      ),
    ).to.have.lengthOf(1);
    expect(
      manifestProblems(manifest(imported, 'export const BUILTINS = [b];\nexport const MODULES = [guard, acme];'), [
        one,
        two,
        three,
      ]),
    ).to.have.lengthOf(1);
  });

  it('refuse one that imports a module and does not list it', () => {
    expect(
      manifestProblems(manifest(imported, 'export const BUILTINS = [b];\nexport const MODULES = [acme];'), [
        one,
        two,
        three,
      ]),
    ).to.have.lengthOf(1);
  });

  it('find module files, and leave out helpers and inner files', () => {
    const sources: Readonly<Record<string, string>> = {
      'builtins/manifest.ts': '',
      'builtins/a/b.ts': 'export default {};',
      'builtins/a/help.ts': 'export const help = 1;',
      'providers/acme/index.ts': '',
      'providers/acme/models.ts': '',
      'providers/_common/index.ts': '',
      'plugins/guard.ts': '',
      'plugins/_shared.ts': '',
    };
    expect(moduleFiles(Object.keys(sources), (path) => sources[path] ?? '')).to.deep.equal([one, two, three]);
  });

  it('refuse a module without a test, and take a file, a folder or a describe for one', () => {
    expect(untested([three], [])).to.deep.equal(['plugins/guard.ts']);
    expect(
      untested([three], [{ path: 'test/plugins/guardian.test.ts', source: "describe('another guardian', () => {});" }]),
    ).to.deep.equal(['plugins/guard.ts']);
    expect(untested([three], [{ path: 'test/plugins/guard.test.ts', source: '' }])).to.deep.equal([]);
    expect(untested([three], [{ path: 'test/plugins/guard/stream.test.ts', source: '' }])).to.deep.equal([]);
    expect(
      untested([three], [{ path: 'test/a.test.ts', source: "describe('the guard plugin', () => {});" }]),
    ).to.deep.equal([]);
  });

  it('refuse a module without a row in the catalogue', () => {
    expect(undocumented([three], 'the `guard` plugin')).to.deep.equal(['plugins/guard.ts']);
    expect(undocumented([three], '| Plugin |\n|---|\n| `guard` | guardrail |')).to.deep.equal([]);
  });
});
