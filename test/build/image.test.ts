import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { EXTERNAL } from '../../build/bundle.ts';
import { type Lock, lockedPackages } from '../../build/image/locked-packages.ts';
import { read } from '../architecture/source.ts';
import { atEnd, eventually, inSoak, MASTER_KEY, requireTool, temporaryFolder } from '../kit/index.ts';
import { freePort } from '../kit/local-port.ts';
import { Missing, skipWithout } from '../kit/missing.ts';
import { packCopy } from './pack-copy.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SCRIPT = join(ROOT, 'build/image/rootfs.ts');
/** Most that the root file system may take, in bytes and files. */
const MOST_BYTES = 230e6;
const MOST_FILES = 6000;

/** What the last stage of the Dockerfile says, by instruction. */
const instructions: ReadonlyMap<string, string> = new Map(
  read('Dockerfile')
    .slice(read('Dockerfile').indexOf('FROM scratch'))
    .replaceAll('\\\n', ' ')
    .split('\n')
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => line.split(/ (.*)/s, 2) as [string, string]),
);
const saidBy = (name: string): string => instructions.get(name) ?? '';
const environment = (): [string, string][] =>
  saidBy('ENV')
    .split(/\s+/)
    .map((pair) => pair.split(/=(.*)/s, 2) as [string, string]);

const packages = (text: Record<string, object>): Lock => ({ packages: text });

describe('packages of the image', () => {
  it('are those that the program needs, and what they need, found as Node finds them', () => {
    const lock = packages({
      'node_modules/a': { dependencies: { b: '1', installer: '1' }, optionalDependencies: { absent: '1' } },
      'node_modules/a/node_modules/b': { dependencies: { c: '1' } },
      'node_modules/b': {},
      'node_modules/c': { dependencies: { a: '1' } },
      'node_modules/installer': { dependencies: { more: '1' } },
      'node_modules/other': {},
    });
    expect(lockedPackages(lock, ['a'], new Set(['installer']))).to.deep.equal([
      'node_modules/a',
      'node_modules/a/node_modules/b',
      'node_modules/c',
    ]);
  });

  it('are refused where one that is needed is not locked', () => {
    const lock = packages({ 'node_modules/a': { dependencies: { b: '1' } } });
    expect(() => lockedPackages(lock, ['a'], new Set())).to.throw('b, which node_modules/a needs, is not locked');
  });

  it('include each package that stays outside of the bundle', () => {
    const lock = JSON.parse(read('package-lock.json')) as Lock;
    const folders = lockedPackages(lock, EXTERNAL, new Set(['prebuild-install', 'tar', 'node-gyp', 'node-addon-api']));
    expect(folders).to.include.members(EXTERNAL.map((name) => `node_modules/${name}`));
  });
});

describe('Dockerfile', () => {
  it('ends with an empty image that runs as a user of its own, without a shell', () => {
    expect(saidBy('FROM')).to.equal('scratch');
    expect(saidBy('USER')).to.match(/^[1-9]\d+:0$/);
    for (const name of ['ENTRYPOINT', 'CMD']) expect(JSON.parse(saidBy(name)), name).to.be.an('array');
    expect(saidBy('HEALTHCHECK')).to.match(/ CMD \["\/usr\/bin\/node"/);
  });

  it('sets variables that the reference has, and keeps every store on the volume', () => {
    const pages = read('docs/configuration.md');
    const ofOthers = ['NODE_ENV', 'SSL_CERT_FILE'];
    expect(environment().filter(([name]) => !ofOthers.includes(name) && !pages.includes(`\`${name}\``))).to.deep.equal(
      [],
    );
    for (const [name, value] of environment())
      if (name.endsWith('_DSN'))
        expect(value, name).to.satisfy((path: string) => path.startsWith(`${saidBy('VOLUME')}/`));
  });

  it('copies nothing into the build that git does not keep', () => {
    const left = read('.dockerignore').split('\n');
    const notKept = read('.gitignore')
      .split('\n')
      .map((line) => line.replace(/\/$/, ''));
    expect(left).to.include.members(notKept.filter((line) => line !== '' && line !== '.installed'));
  });
});

describe('the image', function image() {
  this.timeout(480_000);

  inSoak('serves as its user on a root that nothing can write, and ends at once when asked to', async function () {
    const [bwrap, setpriv] = [requireTool(this, 'bwrap'), requireTool(this, 'setpriv')];
    requireTool(this, 'mmdebstrap');
    if (process.getuid?.() !== 0) skipWithout(this, new Missing('root', 'another user is taken for the image'));
    const root = await rootFileSystem();
    await expectClosed(root);
    const data = await temporaryFolder();
    const [uid = '', gid = ''] = saidBy('USER').split(':');
    await chown(data, Number(uid), Number(gid));
    const port = await freePort();
    const variables = [
      ...environment(),
      ['PORT', String(port)],
      ['MASTER_KEY', MASTER_KEY],
      ['OPENAI_API_KEY', 'sk-x'],
    ];
    const child = spawn(
      setpriv,
      [
        ...['--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs', '--bounding-set=-all', bwrap],
        ...['--die-with-parent', '--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts'],
        ...['--ro-bind', root, '/', '--tmpfs', '/tmp', '--bind', data, '/data', '--proc', '/proc', '--dev', '/dev'],
        ...[
          '--chdir',
          saidBy('WORKDIR'),
          '--clearenv',
          ...variables.flatMap(([name = '', value = '']) => ['--setenv', name, value]),
        ],
        ...[
          '--as-pid-1',
          ...(JSON.parse(saidBy('ENTRYPOINT')) as string[]),
          ...(JSON.parse(saidBy('CMD')) as string[]),
        ],
      ],
      { stdio: 'ignore' },
    );
    const exited = once(child, 'exit');
    atEnd(async () => {
      child.kill('SIGKILL');
      await exited;
    });
    const url = `http://127.0.0.1:${port}`;
    await eventually(async () => (await fetch(`${url}/livez`).catch(() => undefined))?.status === 200);
    const made = await fetch(`${url}/admin/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'kept' }),
    });
    expect(made.status).to.equal(201);
    expect(await readdir(data)).to.include.members(['keys.db', 'requests.db']);
    const gateway = await childOf(child.pid ?? 0);
    const status = await readFile(`/proc/${gateway}/status`, 'utf8');
    expect(status)
      .to.match(new RegExp(`^Uid:\\s+${uid}\\b`, 'm'))
      .and.match(/^CapEff:\s+0+$/m)
      .and.match(/^NoNewPrivs:\s+1$/m);
    process.kill(gateway, 'SIGTERM'); // bubblewrap passes no signal on
    expect((await exited)[0]).to.equal(0);
  });
});

async function rootFileSystem(): Promise<string> {
  const { archive } = await packCopy(await temporaryFolder(), await temporaryFolder());
  const root = join(await temporaryFolder(), 'root');
  await chmod(join(root, '..'), 0o755); // the user of the image looks for it here
  await run(process.execPath, [SCRIPT, '--out', root, '--package', archive]);
  return root;
}

/** Whether it is small, and what another user than root may write is what the image promises. */
async function expectClosed(root: string): Promise<void> {
  const names = await readdir(root, { recursive: true });
  let bytes = 0;
  const open: string[] = [];
  for (const name of names) {
    const { mode, size, uid } = await lstat(join(root, name));
    if ((mode & 0o170_000) === 0o120_000) expect((await stat(join(root, name))).isDirectory(), name).to.equal(true);
    else if ((mode & 0o6022) !== 0 || uid !== 0) open.push(name);
    bytes += size;
  }
  expect(open.toSorted()).to.deep.equal(['data', 'tmp']);
  expect(names.length).to.be.below(MOST_FILES);
  expect(bytes).to.be.below(MOST_BYTES);
  expect(names.filter((name) => /(?:^|\/)(?:sh|bash|apt|npm)$/.test(name) && name.includes('bin/'))).to.deep.equal([]);
}

async function childOf(pid: number): Promise<number> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return Number(children.split(' ')[0]);
}
