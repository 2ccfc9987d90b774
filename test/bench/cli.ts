import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How long a person waits for `gw --help` and `gw status`, beside an empty Node: medians of five, the compile cache warm. */
const BIN = fileURLToPath(new URL('../../host/gw.js', import.meta.url));
const RUNS = 5;
const KEY = `gw_${'0'.repeat(32)}`;

/** A command is slow when it takes longer than both. */
interface Limit {
  readonly ms: number;
  readonly timesEmpty: number;
}

function median(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const times = Array.from({ length: RUNS + 1 }, () => {
    const start = performance.now();
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`node ${args.join(' ')} ended with ${status}: ${stderr}`);
    return performance.now() - start;
  });
  return times.slice(1).toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0; // the first one warms the cache
}

async function main(): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), 'gw-cli-'));
  writeFileSync(join(cwd, 'config.yaml'), 'targets: [{virtual_key: echo}]\n');
  const { PATH, HOME } = process.env;
  const gateway = spawn(process.execPath, [BIN, 'serve'], {
    cwd,
    env: { PATH, HOME, PORT: '0', MASTER_KEY: KEY },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  try {
    const port = await portOf(gateway.stderr);
    const env = { PATH, HOME, GW_URL: `http://127.0.0.1:${port}`, MASTER_KEY: KEY };
    const empty = median(['-e', '0'], env);
    console.log(`node -e 0    ${empty.toFixed(0)} ms`);
    const isGood = [
      print(['--help'], env, empty, { ms: 150, timesEmpty: 2.5 }),
      print(['status'], env, empty, { ms: 300, timesEmpty: 5 }),
    ].every(Boolean);
    process.exitCode = isGood ? 0 : 1;
  } finally {
    gateway.kill('SIGTERM');
    await once(gateway, 'close');
    rmSync(cwd, { recursive: true });
  }
}

async function portOf(stderr: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  for await (const part of stderr.setEncoding('utf8') as AsyncIterable<string>) {
    text += part;
    const port = /^ *Address: +http:\/\/localhost:(\d+)$/m.exec(text)?.[1];
    if (port !== undefined) return port;
  }
  throw new Error(`the gateway did not start:\n${text}`);
}

function print(args: readonly string[], env: NodeJS.ProcessEnv, empty: number, { ms, timesEmpty }: Limit): boolean {
  const time = median([BIN, ...args], env);
  const limit = Math.max(ms, timesEmpty * empty);
  const isGood = time <= limit;
  console.log(
    `${`gw ${args.join(' ')}`.padEnd(12)} ${time.toFixed(0)} ms, ${(time / empty).toFixed(1)} times that; ${isGood ? 'within' : 'ABOVE'} ${limit.toFixed(0)} ms`,
  );
  return isGood;
}

await main();
