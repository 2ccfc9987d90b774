import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { temporaryFolder } from '../kit/index.ts';

const ROOT = new URL('../..', import.meta.url);

/** Loads the whole gateway as a start does, and lists who asked for what, in which of Node's two ways, and what was found. */
const LIST = `
  import { registerHooks } from 'node:module';
  const { resolveOwnFiles } = await import(${JSON.stringify(new URL('host/own-files.ts', ROOT).href)});
  resolveOwnFiles();
  const found = [];
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const result = nextResolve(specifier, context);
      found.push([context.conditions.includes('require'), context.parentURL, specifier, result.url]);
      return result;
    },
  });
  for (const file of ['host/create-host.ts', 'builtins/manifest.ts', 'host/registry/resolve-hook.ts', 'builtins/cli/serve.ts']) await import(new URL(file, ${JSON.stringify(ROOT.href)}).href);
  console.log(JSON.stringify(found));
`;

describe('how a checkout finds its own files and those of libraries', () => {
  it('finds the ones that Node finds', async () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', LIST], {
      cwd: await temporaryFolder(),
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    expect(stderr).to.equal('');
    const relative = (JSON.parse(stdout) as [boolean, string, string, string][]).filter(([, , specifier]) =>
      specifier.startsWith('.'),
    );
    const own = relative.filter(([, parent]) => !parent.includes('/node_modules/'));
    const required = relative.filter(([isRequired]) => isRequired);
    expect([own.length, required.length]).to.satisfy((counts: readonly number[]) =>
      counts.every((count) => count > 100),
    );
    for (const [isRequired, parent, specifier, url] of relative) {
      const expected = isRequired
        ? createRequire(parent).resolve(specifier)
        : fileURLToPath(new URL(specifier, parent));
      expect(fileURLToPath(url), `${specifier} in ${parent}`).to.equal(expected);
    }
  });
});
