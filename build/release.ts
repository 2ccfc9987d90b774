/**
 * Makes what a release publishes, into dist/release: `npm run release -- <version>`. Each step says what it did; the first that fails ends it.
 * It publishes nothing: the workflow of the public repository does that with what it made. See docs/releasing.md.
 */
import { spawn, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './restore.ts';

const OUT = join(ROOT, 'dist/release');
const KEY = `gw_${'0'.repeat(32)}`;
const START_MS = 30_000;

const [wanted = ''] = process.argv.slice(2);
const version = wanted.replace(/^v/, '');

const STEPS: readonly (readonly [name: string, run: () => void | Promise<void>])[] = [
  ['clean', clean],
  ['pack', pack],
  ['boot', boot],
  ['sums', sums],
];

for (const [name, run] of STEPS) {
  const begun = performance.now();
  await run();
  process.stdout.write(`[OK] ${name} (${((performance.now() - begun) / 1000).toFixed(1)} s)\n`);
}

function clean(): void {
  const { version: own } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  if (version !== own) throw new Error(`the package is ${own}, and ${wanted || 'no version'} was asked for`);
  const changes = read('git', ['status', '--porcelain']);
  if (changes !== '') throw new Error(`the work tree has changes:\n${changes}`);
  const log = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
  if (!log.includes(`\n## ${version}`)) throw new Error(`CHANGELOG.md has no section ${version}`);
}

function pack(): void {
  mkdirSync(join(ROOT, 'dist'), { recursive: true });
  const folder = mkdtempSync(join(tmpdir(), 'gw-release-')); // packing empties dist
  read('npm', ['pack', '--pack-destination', folder]);
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });
  for (const name of readdirSync(folder)) writeFileSync(join(OUT, name), readFileSync(join(folder, name)));
  writeFileSync(join(OUT, 'sbom.cdx.json'), readFileSync(join(ROOT, 'dist/sbom.cdx.json')));
  rmSync(folder, { recursive: true });
}

/** Installs the archive where nothing else is, as a user would, and asks what starts. No script of a package runs. */
async function boot(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-boot-'));
  const archive = join(OUT, readdirSync(OUT).find((name) => name.endsWith('.tgz')) ?? '');
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  read('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', archive], folder);
  const port = 18_080 + (process.pid % 1000);
  const child = spawn(process.execPath, [join(folder, 'node_modules/gw/dist/gw.js'), 'serve'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: String(port), MASTER_KEY: KEY },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  try {
    const url = `http://127.0.0.1:${port}`;
    await until(() => fetch(`${url}/readyz`).then(({ ok }) => ok));
    const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'hello' }] });
    const ask = (key: string): Promise<Response> =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body,
      });
    const answer = await ask(KEY);
    if (answer.status !== 200 || !(await answer.text()).includes('hello')) throw new Error('a completion failed');
    if ((await ask('gw_wrong')).status !== 401) throw new Error('a wrong key was let in');
    const page = await fetch(url, { headers: { accept: 'text/html' } });
    if (!(await page.text()).includes('<script')) throw new Error('the dashboard is not in the package');
    child.kill('SIGTERM');
    await until(async () => child.exitCode !== null);
    if (child.exitCode !== 0) throw new Error(`it ended with ${child.exitCode}`);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

function sums(): void {
  const lines = readdirSync(OUT)
    .toSorted()
    .map((name) => `${hash('sha256', readFileSync(join(OUT, name)))}  ${name}\n`);
  writeFileSync(join(OUT, 'SHA256SUMS'), lines.join(''));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + START_MS;
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error('the package does not start, or does not end');
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}

function read(command: string, args: readonly string[], cwd = ROOT): string {
  const { status, stdout } = spawnSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${status ?? 'a signal'}`);
  return stdout.trim();
}
