import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { runGw, type RunResult } from '../kit/index.ts';
import { SOURCES, writeTree } from './support.ts';

/** `gw validate` on a folder outside the package, as a process of its own: the hook lives as long as a process. */
async function validate(
  files: Readonly<Record<string, string>>,
  prepare: (folder: string) => Promise<void> = async () => {},
): Promise<RunResult> {
  const folder = await writeTree(files);
  await prepare(folder);
  return runGw(['validate', join(folder, 'config.yaml')]);
}

const using = (strategy: string, more = ''): string =>
  `strategy: { mode: ${strategy} }\ntargets: [{ virtual_key: echo }]\n${more}`;
const manifest = (name: string, exports: unknown): string => JSON.stringify({ name, type: 'module', exports });

describe('what a module outside the package may import', () => {
  it('is gw/contract, gw/common-wire and joi, by their names', async () => {
    const { code, stderr, stdout } = await validate({
      'config.yaml':
        'strategy: { mode: own }\ntargets: [{ virtual_key: acme }]\nplugins: [{ name: watch, stage: before_request, enabled: true }]\n',
      'providers/acme/index.ts': SOURCES.provider('acme'),
      'strategies/own.ts': SOURCES.strategy('own'),
      'plugins/watch.ts': SOURCES.plugin('watch'),
    });
    expect(stderr).to.equal('');
    expect(stdout).to.include('[OK] Config is valid');
    expect(code).to.equal(0);
  });

  it("is this process's contract, whatever package named gw stands beside it", async () => {
    const { stderr } = await validate({
      'config.yaml': using('own'),
      'strategies/own.ts': SOURCES.strategy('own'),
      'node_modules/gw/package.json': manifest('gw', { './contract': './contract.js' }),
      'node_modules/gw/contract.js': "throw new Error('another gw');",
    });
    expect(stderr).to.equal('');
  });

  it("is the host's joi, whatever stands in its node_modules", async () => {
    const { code, stderr } = await validate({
      'config.yaml': using('own', 'modules: [gw-one]\n'),
      'strategies/own.ts': SOURCES.strategy('own'),
      'node_modules/gw-one/package.json': manifest('gw-one', './index.js'),
      'node_modules/gw-one/index.js': SOURCES.strategy('by-package'),
      'node_modules/joi/package.json': manifest('joi', './index.js'),
      'node_modules/joi/index.js': "export default {};\nthrow new Error('the joi beside it');",
    });
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
  });

  it('is nothing else of the host', async () => {
    const { stderr } = await validate({
      'config.yaml': using('fallback'),
      'plugins/a.ts': "import 'gw/host/registry/registry.ts';",
      'plugins/b.ts': "import 'pino';",
      'plugins/c.ts': "import 'gw';",
    });
    for (const name of ['a', 'b', 'c']) expect(stderr).to.include(`plugins/${name}.ts: MV10`);
  });

  it('is the same for a package of the modules list, and for one that is linked and holds TypeScript', async () => {
    const { code, stderr } = await validate(
      {
        'config.yaml': using(
          'by-package',
          'modules: [gw-one, gw-linked]\nplugins: [{ name: by-link, stage: before_request, enabled: true }]\n',
        ),
        'node_modules/gw-one/package.json': manifest('gw-one', './index.js'),
        'node_modules/gw-one/index.js': SOURCES.strategy('by-package'),
        'work/gw-linked/package.json': manifest('gw-linked', './index.ts'),
        'work/gw-linked/index.ts': SOURCES.plugin('by-link').replace('({ name', '<object>({ name'),
      },
      async (folder) => {
        await symlink(join(folder, 'work/gw-linked'), join(folder, 'node_modules/gw-linked'));
      },
    );
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
  });

  const required = (
    name: string,
  ): string => `const Joi = require('joi');\nconst { definePlugin } = require('gw/contract');
module.exports = definePlugin({ name: '${name}', type: 'metrics', summary: 's', stages: ['before_request'], settings: Joi.object({}), create: () => ({ before_request() {} }) });\n`;

  it('is the same for what is written for require', async () => {
    const { code, stderr } = await validate({
      'config.yaml': using(
        'fallback',
        'modules: [gw-old]\nplugins: [{ name: old, stage: before_request, enabled: true }, { name: by-file, stage: before_request, enabled: true }]\n',
      ),
      'node_modules/gw-old/package.json': JSON.stringify({ name: 'gw-old', main: 'index.js' }),
      'node_modules/gw-old/index.js': required('old'),
      'plugins/by-file.cjs': required('by-file'),
    });
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
  });

  it('is what a package exports for import, where it exports something else for require', async () => {
    const { code, stderr } = await validate({
      'config.yaml': using('by-import', 'modules: [gw-dual, gw-import]\n'),
      'node_modules/gw-dual/package.json': manifest('gw-dual', { import: './index.js', require: './index.cjs' }),
      'node_modules/gw-dual/index.js': SOURCES.strategy('by-import'),
      'node_modules/gw-dual/index.cjs': "throw new Error('required');",
      'node_modules/gw-import/package.json': manifest('gw-import', { '.': { import: './index.js' } }),
      'node_modules/gw-import/index.js': SOURCES.strategy('by-import-alone'),
    });
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
  });

  it('is the same in a folder of modules that is itself a link', async () => {
    const { stderr } = await validate({ 'config.yaml': using('own') }, async (folder) => {
      const elsewhere = await writeTree({ 'strategies/own.ts': SOURCES.strategy('own') });
      await symlink(join(elsewhere, 'strategies'), join(folder, 'strategies'));
    });
    expect(stderr).to.equal('');
  });
});
