// Runs before `npm start` and `npm test`, in plain JavaScript: installs the dependencies when they are missing or older
// than the lock file, so that both commands work on a fresh clone.
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Milliseconds of the last change; 0 when there is no such file. */
function changedAt(path) {
  try {
    return statSync(join(root, path)).mtimeMs;
  } catch {
    return 0;
  }
}

// npm writes this file last, so an install that was interrupted counts as none.
if (changedAt('node_modules/.package-lock.json') < changedAt('package-lock.json')) {
  process.stderr.write('Installing dependencies (npm ci) …\n');
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' });
  if (npm.status !== 0) {
    process.stderr.write('Error: npm ci failed; see its output above\n');
    process.exit(1);
  }
}
