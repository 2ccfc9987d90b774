import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ask, atEnd, eventually, MASTER_KEY, temporaryFolder } from '../../kit/index.ts';
import { Missing } from '../../kit/missing.ts';

/** The root folder of this checkout. */
export const TODAY = fileURLToPath(new URL('../../../', import.meta.url));

const run = promisify(execFile);
const MOST_BYTES = 512 * 1024 * 1024;

/**
 * An earlier state of the project in a folder of its own, with the dependencies of today: of what they offer it uses what they still offer. Throws a
 * `Missing` where the clone does not go back so far.
 */
export async function checkedOut(commit: string): Promise<string> {
  const folder = await temporaryFolder();
  const archive = join(folder, 'project.tar');
  await run('git', ['-C', TODAY, 'archive', '--format=tar', '-o', archive, commit], { maxBuffer: MOST_BYTES }).catch(
    (cause: unknown) => {
      throw new Missing('an earlier program', `this clone does not hold the commit ${commit}`, { cause });
    },
  );
  await run('tar', ['-xf', archive, '-C', folder]);
  await symlink(join(TODAY, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

export interface ProgramPlace {
  readonly name: string;
  readonly folder: string;
  readonly cwd: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly config: object;
}

/** A gateway of one version, at one address over its restarts. */
export interface Program {
  readonly name: string;
  /** The status of a chat with a key. */
  chat(key: string): Promise<number>;
  makeKey(name: string): Promise<{ readonly id: string; readonly key: string }>;
  revoke(id: string): Promise<void>;
  configure(name: string): Promise<void>;
  /** The name that `configure` has given, by whichever program. */
  nameOf(): Promise<string | undefined>;
  restart(signal?: NodeJS.Signals): Promise<void>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

export async function startProgram({ name, folder, cwd, variables, config }: ProgramPlace): Promise<Program> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const file = join(cwd, `${name}.json`);
  await writeFile(file, JSON.stringify(config));
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PORT: String(port), MASTER_KEY, RATE_LIMIT_RPS: '0', GATEWAY_CONFIG: file, ...variables };
  let child: ChildProcess | undefined;
  let said = '';

  const start = async (): Promise<void> => {
    const started = spawn(process.execPath, [join(folder, 'host/gw.js'), 'serve'], { cwd, env, stdio: 'pipe' });
    child = started;
    said = '';
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    await eventually(async () => {
      if (started.exitCode !== null) throw new Error(`${name} ended with ${started.exitCode}:\n${said}`);
      return fetch(`${url}/`).then(
        () => true, // early programs have no route that says so
        () => false,
      );
    }, 60_000);
  };
  const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<void> => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const call = async (method: string, path: string, body?: object, key = MASTER_KEY): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const done = async (method: string, path: string, body?: object): Promise<any> => {
    const answer = await call(method, path, body);
    if (!answer.ok) throw new Error(`${name}: ${method} ${path} was answered ${answer.status}: ${await answer.text()}`);
    return answer.json();
  };

  atEnd(() => stop('SIGKILL'));
  await start();
  return {
    name,
    chat: async (key) => {
      const answer = await call('POST', '/v1/chat/completions', { ...ask(), model: 'echo' }, key);
      await answer.arrayBuffer();
      return answer.status;
    },
    makeKey: (keyName) => done('POST', '/admin/keys', { name: keyName, scopes: ['read_only'] }),
    revoke: (id) => done('POST', `/admin/keys/${id}/revoke`),
    configure: (alias) => done('PUT', '/admin/config', { ...config, aliases: { name: alias } }),
    nameOf: async () => (await done('GET', '/admin/config')).aliases?.name as string | undefined,
    restart: async (signal) => {
      await stop(signal);
      await start();
    },
    stop,
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  server.close();
  await once(server, 'close');
  return port;
}
