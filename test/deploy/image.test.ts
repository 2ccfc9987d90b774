import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { chmod, chown, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { atEnd, forSuite, isSoak, MASTER_KEY, temporaryFolder } from '../kit/index.ts';
import { freePort } from '../kit/local-port.ts';
import { Missing } from '../kit/missing.ts';
import { findTool } from '../kit/tools.ts';
import { packCopy } from '../build/pack-copy.ts';
import { read, ROOT } from '../architecture/source.ts';

const run = promisify(execFile);
const USER = 65_532;
const MOST_BYTES = 230e6;
const MOST_FILES = 6000;
/** A busy machine takes seconds for a start. */
const TRY_MS = 100;
const MOST_TRIES = 600;

/** What the last stage of the Dockerfile says of how the image runs. */
function saidInDockerfile(): {
  readonly env: readonly string[];
  readonly health: string[];
  readonly command: string[];
} {
  const stage = read('Dockerfile').slice(read('Dockerfile').indexOf('FROM scratch')).replaceAll('\\\n', ' ');
  const listOf = (pattern: RegExp): string[] => JSON.parse(pattern.exec(stage)?.[1] ?? '[]') as string[];
  return {
    env: (/^ENV (.+)$/m.exec(stage)?.[1] ?? '').trim().split(/\s+/),
    health: listOf(/^HEALTHCHECK .*? CMD (\[.+\])$/m),
    command: [...listOf(/^ENTRYPOINT (\[.+\])$/m), ...listOf(/^CMD (\[.+\])$/m)],
  };
}

interface Image {
  readonly root: string;
  readonly entries: readonly string[];
}

/** The root file system as the build script writes it. */
async function buildImage(): Promise<Image> {
  for (const tool of ['mmdebstrap', 'bwrap', 'setpriv']) findTool(tool);
  if (process.getuid?.() !== 0) throw new Missing('root', 'the image is started as another user');
  const { archive } = await packCopy(await temporaryFolder(), await temporaryFolder());
  const place = await temporaryFolder();
  await chmod(place, 0o755); // another user has to come to it
  const root = join(place, 'rootfs');
  await run(process.execPath, [join(ROOT, 'build/image/rootfs.ts'), '--out', root, '--package', archive]);
  return { root, entries: readdirSync(root, { recursive: true, encoding: 'utf8' }) };
}

interface Running {
  readonly url: string;
  readonly data: string;
  /** The gateway's own process. */
  readonly pid: number;
  readonly exited: Promise<number | null>;
  readonly inside: (command: readonly string[]) => ChildProcess;
}

/** Another user without capabilities, and nothing of the machine but its network. */
const WITHOUT_RIGHTS = `--reuid=${USER} --regid=0 --clear-groups --no-new-privs --bounding-set=-all bwrap --unshare-user --unshare-pid --unshare-ipc --unshare-uts --die-with-parent`;

/** Starts the image as a container would: another user, a root that cannot be written, no capabilities, a process tree of its own. */
async function startImage({ root }: Image): Promise<Running> {
  const { env, command } = saidInDockerfile();
  const folder = await temporaryFolder();
  await chmod(folder, 0o755);
  const data = join(folder, 'data');
  await mkdir(data);
  await chown(data, USER, 0);
  const config = join(folder, 'config');
  await mkdir(config);
  await writeFile(
    join(config, 'config.yaml'),
    'strategy: {mode: single}\ntargets: [{virtual_key: echo, models: [m]}]\n',
  );
  const port = await freePort();
  const more = [`MASTER_KEY=${MASTER_KEY}`, `PORT=${port}`, 'GATEWAY_CONFIG=/etc/gw/config.yaml', 'RATE_LIMIT_RPS=0'];
  const variables = [...env, ...more].flatMap((pair) => {
    const at = pair.indexOf('=');
    return ['--setenv', pair.slice(0, at), pair.slice(at + 1)];
  });
  const inside = (words: readonly string[]): ChildProcess =>
    spawn(
      'setpriv',
      [
        ...WITHOUT_RIGHTS.split(' '),
        '--ro-bind',
        root,
        '/',
        '--tmpfs',
        '/tmp',
        '--bind',
        data,
        '/data',
        '--ro-bind',
        config,
        '/etc/gw',
        ...'--proc /proc --dev /dev --chdir /data --clearenv'.split(' '),
        ...variables,
        '--as-pid-1',
        ...words,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
  const child = inside(command);
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdout?.resume();
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  atEnd(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/livez`).then(
      ({ ok }) => ok,
      () => false,
    );
  for (let tries = 0; !(await isUp()); tries += 1) {
    if (child.exitCode !== null || tries > MOST_TRIES) throw new Error(`the image did not start:\n${said}`);
    await sleep(TRY_MS);
  }
  return { url, data, pid: innermost(child.pid ?? 0), exited, inside };
}

/** The last of a line of processes, each the only child of the one before. */
function innermost(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  return children.length === 0 ? pid : innermost(Number(children.at(-1)));
}

const outputOf = async (child: ChildProcess): Promise<{ code: number | null; text: string }> => {
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, text };
};

if (isSoak())
  describe('the image', () => {
    const image = forSuite(buildImage);

    it('is as small as it is said to be, and holds no shell, no program with rights of its own and no link that leads nowhere', () => {
      const { root, entries } = image();
      const stats = entries.map((path) => [path, lstatSync(join(root, path))] as const);
      const files = stats.filter(([, stat]) => stat.isFile());
      expect(files.length).to.be.below(MOST_FILES);
      expect(files.reduce((sum, [, { size }]) => sum + size, 0)).to.be.below(MOST_BYTES);
      const open = stats
        .filter(([, stat]) => !stat.isSymbolicLink() && (stat.mode & 0o002) !== 0)
        .map(([path]) => path);
      expect(open).to.deep.equal(['tmp']);
      expect(files.filter(([, { mode }]) => (mode & 0o6000) !== 0)).to.deep.equal([]);
      expect(entries.filter((path) => /(?:^|\/)(?:sh|bash|dash|apt|dpkg|busybox)$/.test(path))).to.deep.equal([]);
      for (const [path, stat] of stats) {
        if (!stat.isSymbolicLink()) continue;
        const to = readlinkSync(join(root, path));
        const target = to.startsWith('/') ? join(root, to) : resolve(dirname(join(root, path)), to);
        expect(target.startsWith(root) && statSync(target) !== undefined, `${path} -> ${to}`).to.equal(true);
      }
    });

    it('runs without rights, answers, is healthy, keeps keys, and ends with 0 after SIGTERM', async () => {
      const { url, data, pid, exited, inside } = await startImage(image());
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      expect(status)
        .to.match(/^Uid:\t65532\t/m)
        .and.to.match(/^NoNewPrivs:\t1$/m)
        .and.to.match(/^CapBnd:\t0+$/m);
      const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
      const ask = (stream: boolean): Promise<Response> =>
        fetch(`${url}/v1/chat/completions`, {
          method: 'POST',
          headers,
          body: JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content: 'hello image' }] }),
        });
      expect(await (await ask(false)).text()).to.include('hello image');
      expect(await (await ask(true)).text()).to.include('[DONE]');
      const made = await fetch(`${url}/admin/keys`, { method: 'POST', headers, body: '{"name": "ada"}' });
      expect(made.status).to.equal(201);
      expect(readdirSync(data)).to.include.members(['keys.db', 'config.db', 'requests.db']);
      const page = await fetch(url, { headers: { accept: 'text/html' } });
      expect(await page.text()).to.include('<script');
      expect(await outputOf(inside(saidInDockerfile().health))).to.deep.equal({ code: 0, text: '[OK] ready\n' });
      expect((await outputOf(inside(['/usr/bin/gw', 'version']))).code).to.equal(0);
      process.kill(pid, 'SIGTERM');
      expect(await exited).to.equal(0);
    });
  });
