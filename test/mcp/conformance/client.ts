/** The gateway as a client, for the conformance suite: a gateway process whose one tool server is that of a scenario, and a call of each of its tools. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../../host/gw.js', import.meta.url));
const MASTER_KEY = 'gw_0123456789abcdef0123456789abcdef';
/** How long a server may take until it is ready: those that want OAuth never are. */
const PATIENCE_MS = 5000;

const folder = mkdtempSync(join(tmpdir(), 'gw-conformance-'));
const config = join(folder, 'config.json');
writeFileSync(
  config,
  JSON.stringify({
    strategy: { mode: 'single' },
    targets: [{ virtual_key: 'echo' }],
    mcp_servers: [{ name: 'suite', url: process.argv.at(-1), timeout_seconds: 10 }],
  }),
);
const gateway = spawn(process.execPath, [BIN, 'serve'], {
  cwd: folder,
  env: { PATH: process.env['PATH'], PORT: '0', MASTER_KEY, RATE_LIMIT_RPS: '0', GATEWAY_CONFIG: config },
  stdio: ['ignore', 'ignore', 'pipe'],
});
const exited = new Promise((resolve) => {
  gateway.on('close', resolve);
});

async function address(): Promise<string> {
  let said = '';
  for await (const text of gateway.stderr.setEncoding('utf8') as AsyncIterable<string>) {
    process.stderr.write(text);
    said += text;
    const port = /http:\/\/localhost:(\d+)/.exec(said)?.[1];
    if (port !== undefined) return `http://127.0.0.1:${port}`;
  }
  throw new Error('the gateway did not start');
}

async function rpc(url: string, method: string, params: object = {}): Promise<any> {
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${MASTER_KEY}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return response.json();
}

async function ready(url: string): Promise<boolean> {
  const until = Date.now() + PATIENCE_MS;
  while (Date.now() < until) {
    const health = (await (
      await fetch(`${url}/admin/health`, { headers: { authorization: `Bearer ${MASTER_KEY}` } })
    ).json()) as any;
    if (health.mcp_servers[0].ready) return true;
    await setTimeout(50);
  }
  return false;
}

try {
  const url = await address();
  if (!(await ready(url))) process.exitCode = 1;
  for (const { name } of (await rpc(url, 'tools/list')).result.tools) {
    const answer = await rpc(url, 'tools/call', { name, arguments: { a: 5, b: 3 } });
    process.stdout.write(`${name}: ${JSON.stringify(answer)}\n`);
  }
} finally {
  gateway.kill('SIGTERM');
  await exited;
  rmSync(folder, { recursive: true, force: true });
}
