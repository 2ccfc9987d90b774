import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createClient, type RedisClientType } from '@redis/client';
import { atEnd } from './cleanup.ts';
import { freePort, untilOpen } from './local-port.ts';
import { temporaryFolder } from './process.ts';
import { findTool } from './tools.ts';

export interface RedisServer {
  readonly url: string;
  /** A connection to the server itself. */
  readonly client: RedisClientType;
}

/** A Redis of the suite's or the test's own, which keeps nothing on disk. Where it is not installed `forSuite` skips the suite. */
export async function startRedis(...settings: readonly string[]): Promise<RedisServer> {
  const program = findTool('redis-server');
  const port = await freePort();
  const folder = await temporaryFolder();
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--appendonly', 'no'];
  const child = spawn(program, [...where, ...settings], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  await untilOpen(port, child, 'redis-server');
  const url = `redis://127.0.0.1:${port}`;
  const client: RedisClientType = createClient({ url });
  client.on('error', () => {});
  await client.connect();
  atEnd(() => client.destroy());
  return { url, client };
}
