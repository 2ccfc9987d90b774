import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atEnd } from '../cleanup.ts';
import { freePort, untilOpen } from '../local-port.ts';
import { type User, unprivilegedUser } from '../postgres-programs.ts';
import { temporaryFolder } from '../process.ts';
import { findTool } from '../tools.ts';

export interface PgBouncerOptions {
  /** Start-up parameters that it takes and forgets; those that it does not know are otherwise refused. */
  readonly ignores?: readonly string[];
  /** Connections to the server for each database; 20 unless said. */
  readonly poolSize?: number;
}

/**
 * The PgBouncer of this machine in front of the database of a DSN, until the test or the suite ends; resolves with the DSN through it. Throws
 * a `Missing` where it is not installed. It lets everybody in, and signs in to the server as the DSN says.
 */
export async function startPgBouncer(
  mode: 'session' | 'transaction' | 'statement',
  dsn: string,
  { ignores = [], poolSize = 20 }: PgBouncerOptions = {},
): Promise<string> {
  const program = findTool('pgbouncer');
  const server = new URL(dsn);
  const port = await freePort();
  const file = join(await temporaryFolder(), 'pgbouncer.ini');
  const password = decodeURIComponent(server.password);
  await writeFile(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port || 5432} user=${decodeURIComponent(server.username)}${password && ` password=${password}`}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${poolSize}
max_client_conn = 500
server_round_robin = 1
${ignores.length > 0 ? `ignore_startup_parameters = ${ignores.join(',')}` : ''}
`,
    { mode: 0o600 },
  );
  const user = process.getuid?.() === 0 ? await unprivilegedUser() : undefined;
  if (user) await giveTo(user, file);
  const child = spawn(program, ['-q', file], {
    stdio: 'ignore',
    ...(user && { uid: user.uid, gid: user.gid, cwd: '/' }),
  });
  const exited = once(child, 'exit');
  atEnd(async () => {
    child.kill('SIGQUIT'); // at once, whatever still goes through it
    await exited;
  });
  await untilOpen(port, child, 'pgbouncer');
  server.hostname = '127.0.0.1';
  server.port = String(port);
  return server.href;
}

/** Another user reads the file in a folder of this one's. */
async function giveTo({ uid, gid }: User, file: string): Promise<void> {
  await chown(file, uid, gid);
  await chmod(join(file, '..'), 0o711);
}
