import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;
const GIVE_UP_MS = 60_000;

/**
 * Starts what was built once, so that its compile cache goes into the package. Node takes it where version, architecture
 * and V8 flags are those of this machine; elsewhere the first start makes one of its own.
 */
export async function warmCache(dist: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gw-pack-'));
  const config = join(folder, 'config.yaml');
  writeFileSync(
    config,
    'strategy: {mode: fallback}\ntargets: [{virtual_key: echo}]\nplugins: [{name: max-token, stage: before_request, enabled: true, config: {max_tokens: 1}}]\n',
  );
  const port = await freePort();
  const variables = {
    PATH: process.env['PATH'],
    PORT: String(port),
    GATEWAY_CONFIG: config,
    MASTER_KEY: `gw_${'0'.repeat(32)}`,
    NODE_ENV: 'production',
  };
  const child = spawn(process.execPath, [join(dist, 'gw.js'), 'serve'], {
    cwd: folder,
    env: variables,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  try {
    await untilReady(child, port, () => said);
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

async function untilReady(child: ChildProcess, port: number, said: () => string): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await isReady(port))) {
    if (child.exitCode !== null || performance.now() > giveUpAt)
      throw new Error(`the built gateway does not start: ${said()}`);
    await sleep(LOOK_EVERY_MS);
  }
}

const isReady = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/livez`).then(
    ({ ok }) => ok,
    () => false,
  );

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
