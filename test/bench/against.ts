import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, gateway, PROJECT, type Subject } from './subjects.ts';
import type { Workspace } from './workspace.ts';

/** An earlier state of this project in a folder of its own, as long as the workspace lasts. */
export interface Checkout {
  readonly hash: string;
  readonly folder: string;
}

/** Checks a commit out beside, with its own dependencies when its lock file is another. */
export async function checkOut(workspace: Workspace, commit: string): Promise<Checkout> {
  const git = ['git', '-c', 'core.hooksPath=/dev/null', '-C', PROJECT];
  const hash = (
    await workspace.run([...git, 'rev-parse', '--short', '--verify', '--end-of-options', `${commit}^{commit}`])
  ).trim();
  const folder = join(workspace.folder, `gw@${hash}`);
  const modules = join(folder, 'node_modules');
  workspace.atEnd(() => {
    rmSync(modules, { recursive: true, force: true }); // a link goes, what it points to stays
    spawnSync('git', ['-C', PROJECT, 'worktree', 'remove', '--force', '--force', folder], { stdio: 'ignore' }); // twice: even one that is locked, half made
  });
  await workspace.run([...git, 'worktree', 'add', '--detach', folder, hash]);
  const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(PROJECT)) symlinkSync(join(PROJECT, 'node_modules'), modules);
  else await workspace.run(['npm', 'ci', '--no-audit', '--no-fund'], { cwd: folder });
  return { hash, folder };
}

/** An earlier state of this project, to measure beside. */
export async function against(bench: Bench, commit: string): Promise<Subject> {
  const { hash, folder } = await checkOut(bench.workspace, commit);
  return gateway(bench, `gw@${hash}`, folder);
}
