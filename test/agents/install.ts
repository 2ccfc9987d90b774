import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { aliases, FOLDER, folderOf, isInstalled, manifestOf, READY, VERSIONS } from './installed.ts';

const execute = promisify(execFile);
/** Packages may not run anything of theirs, but for what `link` looks at. */
const FLAGS = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts'];

/** Installs every agent with the npm of the machine, once for each change of the versions. */
async function install(): Promise<void> {
  await rm(FOLDER, { recursive: true, force: true });
  await mkdir(FOLDER, { recursive: true });
  await copyFile(VERSIONS, join(FOLDER, 'package.json'));
  await execute('npm', ['install', ...FLAGS], { cwd: FOLDER });
  for (const alias of Object.keys(aliases())) await link(alias);
  await copyFile(VERSIONS, READY);
}

/** Runs what some packages want run after they are installed: it puts the platform's program, a package of its own, in its place. */
async function link(alias: string): Promise<void> {
  const script = /^node (\S+)$/.exec(manifestOf(alias).scripts?.['postinstall'] ?? '')?.[1];
  if (script !== undefined) await execute(process.execPath, [script], { cwd: folderOf(alias) });
}

if (!isInstalled()) {
  process.stderr.write('Installing the coding agents, which are about 2 GB\n');
  await install().catch((error: unknown) => {
    process.stderr.write(`npm could not install them: ${String(error)}\n`);
  });
}
