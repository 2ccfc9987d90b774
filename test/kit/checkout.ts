import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Missing } from './missing.ts';
import { temporaryFolder } from './process.ts';
import { BIN, BUNDLE_VARIABLE } from './program.ts';

const run = promisify(execFile);
const ROOT = dirname(dirname(BIN));

/** A copy of this checkout that a test may change, with the same `node_modules`; what git ignores is left out. Removed after the test. */
export async function copyCheckout(): Promise<string> {
  const folder = await temporaryFolder();
  const files = (await filesOfGit()).filter((file) => existsSync(join(ROOT, file)));
  for (const file of files) await cp(join(ROOT, file), join(folder, file));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'dir');
  return folder;
}

/** Tracked files, and new ones that a commit would take. */
async function filesOfGit(): Promise<readonly string[]> {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  try {
    const { stdout } = await run('git', args, { cwd: ROOT, maxBuffer: 1 << 24 });
    return stdout.split('\0').filter((file) => file !== '');
  } catch (error) {
    throw new Missing('a clone with git', 'git lists the files of the checkout', { cause: error });
  }
}

export interface MochaResult {
  readonly passes: number;
  /** Title and message of each test that failed. */
  readonly failures: readonly (readonly [title: string, message: string])[];
}

/** Runs test files of a copy in a process of its own. Throws where mocha itself ends early. */
export async function mochaIn(folder: string, files: readonly string[]): Promise<MochaResult> {
  const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js');
  const { NODE_OPTIONS: _options, GW_TEST_CASES: _cases, [BUNDLE_VARIABLE]: _bundle, ...env } = process.env;
  const { stdout, stderr } = await run(process.execPath, [mocha, '--reporter', 'json', ...files], {
    cwd: folder,
    env,
    maxBuffer: 1 << 26,
  }).catch((error: unknown) => error as { readonly stdout: string; readonly stderr: string }); // a test that fails ends it with an exit code
  const at = stdout.indexOf('{\n  "stats"');
  if (at < 0) throw new Error(`mocha has not run: ${stdout}${stderr}`);
  const { stats, failures } = JSON.parse(stdout.slice(at)) as {
    readonly stats: { readonly passes: number };
    readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[];
  };
  return { passes: stats.passes, failures: failures.map(({ fullTitle, err }) => [fullTitle, err.message ?? '']) };
}
