import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { filesIn, read, ROOT } from '../architecture/source.ts';
import { temporaryFolder } from '../kit/index.ts';

/** The code below each `@example` of a source, without the stars of its comment. */
function examplesIn(source: string): readonly string[] {
  return Array.from(source.matchAll(/^ *\* @example\n *\* ```ts\n([^]*?)\n *\* ```$/gm), ([, code = '']) =>
    code.replaceAll(/^ *\* ?/gm, ''),
  );
}

/** What the compiler says of files that stand in a folder of their own, as those of a module author. */
async function compiled(files: readonly string[]): Promise<string> {
  const folder = await temporaryFolder();
  mkdirSync(join(folder, 'plugins'));
  for (const [at, text] of files.entries()) writeFileSync(join(folder, 'plugins', `example-${at}.ts`), text);
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, string>>;
  };
  const paths = Object.fromEntries(
    ['contract', 'common-wire'].map((name) => [`gw/${name}`, [join(ROOT, exports[`./${name}`] ?? '')]]),
  );
  const compilerOptions = {
    module: 'esnext',
    moduleResolution: 'bundler',
    target: 'esnext',
    types: ['node'],
    noEmit: true,
    strict: true,
    erasableSyntaxOnly: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    noUnusedLocals: true,
    typeRoots: [join(ROOT, 'node_modules/@types')],
    paths: { ...paths, joi: [join(ROOT, 'node_modules/joi')] },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['plugins'] }));
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  return spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8' }).stdout;
}

describe('the examples in comments of gw/contract', () => {
  const examples = filesIn('host/contract').flatMap((path) => examplesIn(read(path)));

  it('stand where module authors begin, and compile', async () => {
    const all = examples.join('\n');
    for (const name of [
      'defineProvider',
      'definePlugin',
      'defineStrategy',
      'texts',
      'rewrite',
      'windowGuard',
      'Spending',
    ])
      expect(all, name).to.include(name);
    expect(await compiled(examples)).to.equal('');
  });

  it('would be refused where one does not compile', async () => {
    const [example = ''] = examples;
    expect(await compiled([`${example}\nexport const wrong: number = '1';\n`])).to.include('TS2322');
  });
});
