import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

interface Environment {
  /** Outside the tree: this variable names the Python of another one. */
  readonly variable: string;
  readonly folder: string;
  readonly packages: readonly string[];
  /** Programs that may make it, the first one that works. */
  readonly pythons: readonly string[];
}

/** The versions that imports and prices were compared with. */
const LITELLM: Environment = {
  variable: 'GW_TEST_LITELLM',
  folder: 'gw-litellm',
  packages: ['litellm==1.110.2', 'genai-prices==0.2.3'],
  pythons: ['python3'],
};

/** The validator of the FinOps Foundation, which brings the model of FOCUS 1.2 with it. It needs Python 3.12; pyarrow 24 does not load beside the NumPy that it asks for. */
const FOCUS: Environment = {
  variable: 'GW_TEST_FOCUS',
  folder: 'gw-focus-validator',
  packages: ['focus-validator==2.2.1', 'pyarrow<24', '--only-binary=numpy,pandas,pyarrow'],
  pythons: ['python3.12', 'python3'],
};

const pythonOf = ({ variable, folder }: Environment): string =>
  process.env[variable] ?? join(tmpdir(), folder, 'bin', 'python');

export const PYTHON = pythonOf(LITELLM);
export const FOCUS_PYTHON = pythonOf(FOCUS);
export const FOCUS_VALIDATOR = join(dirname(FOCUS_PYTHON), 'focus-validator');

/** Without a Python that can have it, what needs the environment is skipped. */
function install(environment: Environment): void {
  const { folder, packages, pythons } = environment;
  const python = pythonOf(environment);
  if (existsSync(python)) return;
  const made = pythons.some((program) => {
    try {
      execFileSync(program, ['-m', 'venv', join(tmpdir(), folder)], { stdio: 'inherit' });
      return true;
    } catch {
      return false;
    }
  });
  if (!made) return;
  try {
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', ...packages], { stdio: 'inherit' });
  } catch (error) {
    console.error(`${packages[0]} cannot be installed: ${String(error)}`);
  }
}

/** Installs each into an environment of its own, where it is not there. */
if (import.meta.main) for (const environment of [LITELLM, FOCUS]) install(environment);
