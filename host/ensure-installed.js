// Runs before `npm start` and `npm test`, in plain JavaScript: installs the dependencies when they are missing or older
// than the lock file, and builds the dashboard when its bundle is missing or made of other sources, so that both commands
// work on a fresh clone. `--without-dashboard` leaves the second part out.
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDashboardBuilt } from '../build/dashboard.js';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const isWindows = process.platform === 'win32';

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
  const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: isWindows,
  });
  if (npm.status !== 0) {
    process.stderr.write('Error: npm ci failed; see its output above\n');
    process.exit(1);
  }
}

if (!process.argv.includes('--without-dashboard') && !isDashboardBuilt(root)) buildDashboard();

/** A gateway without its dashboard serves all the same, and so does one with an older dashboard. */
function buildDashboard() {
  if (!existsSync(join(root, 'node_modules/vite'))) {
    process.stderr.write(
      'Warning: the dashboard is not built of these sources, and what builds it is not installed; "npm ci" installs it\n',
    );
    return;
  }
  process.stderr.write('Building the dashboard …\n');
  const bundled = join(root, 'node_modules/node/bin', isWindows ? 'node.exe' : 'node');
  const node = existsSync(bundled) ? bundled : process.execPath;
  const build = spawnSync(node, [join(root, 'build/dashboard.js')], { cwd: root, stdio: ['ignore', 2, 2] });
  if (build.status !== 0) process.stderr.write('Warning: the dashboard could not be built; see the output above\n');
}
