import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, gateway, PROJECT, type Subject } from './subjects.ts';

/** An earlier state of this project, checked out beside, with its own dependencies when its lock file is another. */
export async function against(bench: Bench, commit: string): Promise<Subject> {
  const { workspace } = bench;
  const git = ['git', '-c', 'core.hooksPath=/dev/null', '-C', PROJECT];
  const hash = (
    await workspace.run([...git, 'rev-parse', '--short', '--verify', '--end-of-options', `${commit}^{commit}`])
  ).trim();
  const name = `gw@${hash}`;
  const folder = join(workspace.folder, name);
  const modules = join(folder, 'node_modules');
  workspace.atEnd(() => {
    rmSync(modules, { recursive: true, force: true }); // a link goes, what it points to stays
    spawnSync('git', ['-C', PROJECT, 'worktree', 'remove', '--force', '--force', folder], { stdio: 'ignore' }); // twice: even one that is locked, half made
  });
  await workspace.run([...git, 'worktree', 'add', '--detach', folder, hash]);
  const lock = (root: string): string => readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (lock(folder) === lock(PROJECT)) symlinkSync(join(PROJECT, 'node_modules'), modules);
  else await workspace.run(['npm', 'ci', '--no-audit', '--no-fund'], { cwd: folder });
  return gateway(bench, name, folder);
}
