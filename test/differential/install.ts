import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The version that the import was compared with. */
const LITELLM = 'litellm==1.110.2';
/** Outside the tree: `GW_TEST_LITELLM` names the Python of another one. */
export const PYTHON = process.env['GW_TEST_LITELLM'] ?? join(tmpdir(), 'gw-litellm', 'bin', 'python');

/** Installs LiteLLM into an environment of its own, where it is not there. */
if (import.meta.main && !existsSync(PYTHON)) {
  execFileSync('python3', ['-m', 'venv', join(tmpdir(), 'gw-litellm')], { stdio: 'inherit' });
  execFileSync(PYTHON, ['-m', 'pip', 'install', '--quiet', LITELLM], { stdio: 'inherit' });
}
