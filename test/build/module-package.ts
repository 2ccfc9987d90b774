import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Packed } from './pack-copy.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

const ALL = `import guard from './plugins/third-guard/index.ts';
import provider from './providers/third/index.ts';
import strategy from './strategies/third-first/index.ts';

export default [provider, strategy, guard];
`;

/** Every file of a folder with its time of change. */
async function filesOf(folder: string): Promise<readonly string[]> {
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
  return Promise.all(
    files.map(
      async ({ parentPath, name }) => `${join(parentPath, name)} ${(await stat(join(parentPath, name))).mtimeMs}`,
    ),
  );
}

/** Writes, builds and packs a package of three modules, as docs/modules.md says, against the packed gateway; the path of its archive. */
export async function packModules({ folder: gateway, bin }: Packed, folder: string): Promise<string> {
  const gw = (...args: readonly string[]): Promise<unknown> =>
    run(process.execPath, [bin, ...args], { cwd: join(folder, 'gw-third', 'src') });
  await run(process.execPath, [bin, 'module', 'new', 'plugin', 'third', '--package'], { cwd: folder });
  const home = join(folder, 'gw-third');
  await rm(join(home, 'src'), { recursive: true });
  await mkdir(join(home, 'src'));
  await gw('module', 'new', 'provider', 'third');
  await gw('module', 'new', 'strategy', 'third-first');
  await gw('module', 'new', 'plugin', 'third-guard');
  await writeFile(join(home, 'src/index.ts'), ALL);
  // What `npm install` would bring: the gateway, and the types of its development.
  await mkdir(join(home, 'node_modules/@types'), { recursive: true });
  await cp(join(gateway, 'node_modules/gw'), join(home, 'node_modules/gw'), { recursive: true });
  await symlink(join(ROOT, 'node_modules/joi'), join(home, 'node_modules/joi'));
  await symlink(join(ROOT, 'node_modules/@types/node'), join(home, 'node_modules/@types/node'));
  const before = await filesOf(join(home, 'node_modules/gw'));
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', home], { cwd: home }).catch(
    (error: { stdout?: string }) => {
      throw new Error(error.stdout, { cause: error });
    },
  );
  if ((await filesOf(join(home, 'node_modules/gw'))).join('\n') !== before.join('\n'))
    throw new Error('the build wrote into the gateway');
  await run(process.execPath, ['--test', 'src/**/*.test.ts'], { cwd: home, env: { PATH: process.env['PATH'] } });
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: home });
  const archive = (await readdir(folder)).find((name) => name.endsWith('.tgz'));
  if (archive === undefined) throw new Error('npm packed nothing');
  return join(folder, archive);
}
