import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { link, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { OwnerLock } from '../../builtins/stores/database/owner-lock.ts';
import type { Log } from '../../host/contract/index.ts';
import { systemClock } from '../../host/common/clock.ts';
import {
  atEnd,
  eventually,
  fakeClock,
  type FakeClock,
  inSoak,
  MASTER_KEY,
  NODE_ARGS,
  program,
  runGw,
  startGateway,
  startHost,
  temporaryFolder,
  type TestHost,
} from '../kit/index.ts';
import { allKeys, SILENT } from './backends.ts';

const sqlite = (file: string): Record<string, string> => ({ API_KEY_STORE_BACKEND: 'sqlite', API_KEY_STORE_DSN: file });
const startOn = (variables: Record<string, string>): Promise<TestHost> =>
  startHost({ targets: [{ virtual_key: 'echo' }] }, { variables });

interface Told {
  readonly log: Log;
  readonly lines: { readonly message: string; readonly attributes: Record<string, unknown> }[];
}

function telling(): Told {
  const lines: Told['lines'] = [];
  const keep = (message: string, attributes: object = {}): void => {
    lines.push({ message, attributes: { ...attributes } });
  };
  return { log: { debug: keep, info: keep, warn: keep, error: keep }, lines };
}

/** Moves time on, as often as something waits for it, until the work is over. */
async function outlast<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  await eventually(() => {
    clock.advance(clock.next ?? 0);
    return isOver;
  }, 60_000);
  return work;
}

async function held(file: string): Promise<OwnerLock> {
  const lock = await OwnerLock.take(file, { clock: systemClock, log: SILENT });
  atEnd(() => lock.close());
  return lock;
}

/** A gateway that is not waited for. */
function serve(
  variables: Record<string, string>,
  ...through: readonly string[]
): { child: ChildProcess; said: () => string } {
  const { PATH, HOME } = process.env;
  const [first, ...rest] = [...through, process.execPath, ...NODE_ARGS, program(), 'serve'];
  const child = spawn(first, rest, { env: { PATH, HOME, PORT: '0', MASTER_KEY, ...variables } });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  atEnd(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  return { child, said: () => text };
}

describe('a file of SQLite is for one process', function owned() {
  this.timeout(60_000);

  it('which another one waits 30 s for, says so at once and every 5 s, and then names it', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    await held(file);
    const { since, ...owner } = JSON.parse(await readFile(`${file}-owner.json`, 'utf8')) as Record<string, unknown>;
    expect(owner).to.include({ pid: process.pid });
    const clock = fakeClock();
    const { log, lines } = telling();
    const refusal = await outlast(
      clock,
      OwnerLock.take(file, { clock, log }).catch((error: unknown) => error),
    );
    expect(refusal)
      .to.be.instanceOf(Error)
      .with.property('message')
      .that.matches(/^keys\.db is open in process \d+ on \S+ since \S+; .*Postgres/)
      .and.includes(`process ${process.pid} `)
      .and.includes(since);
    expect(clock.monotonic()).to.equal(30_000);
    expect(new Set(lines.map(({ message }) => message))).to.deep.equal(
      new Set(['waiting for the process that has the file open']),
    );
    expect(lines.map(({ attributes }) => attributes['seconds'])).to.deep.equal([0, 5, 10, 15, 20, 25]);
    expect(lines[0]?.attributes).to.include({ file, pid: process.pid, since });
  });

  it('and which another one has as soon as the first lets go', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    const first = await held(file);
    const clock = fakeClock();
    const { log, lines } = telling();
    const taking = OwnerLock.take(file, { clock, log });
    await eventually(() => lines.length > 0);
    await first.close();
    const second = await outlast(clock, taking);
    atEnd(() => second.close());
    expect(clock.monotonic()).to.be.below(5000);
    expect(lines).to.have.length(1);
  });

  it('also where its sign cannot be read, or names nothing', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    await held(file);
    for (const text of ['', 'x', '{"pid":"7"}']) {
      await writeFile(`${file}-owner.json`, text);
      const isStopped = (): boolean => true; // so that it does not wait
      const refusal = await OwnerLock.take(file, { clock: systemClock, log: SILENT, isStopped }).catch(
        (error: unknown) => error,
      );
      expect(refusal)
        .to.have.property('message')
        .that.matches(/^keys\.db is open in another process; /);
    }
  });

  it('but for a process that is asked to end while it waits', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    await held(file);
    const clock = fakeClock();
    await outlast(
      clock,
      OwnerLock.take(file, { clock, log: SILENT, isStopped: () => true }).catch(() => {}),
    );
    expect(clock.monotonic()).to.equal(0);
  });

  it('and stays so when its lock is removed: it is taken again, or the file is not used any more', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    const { log, lines } = telling();
    const first = await OwnerLock.take(file, { clock: systemClock, log });
    atEnd(() => first.close());
    await first.verify();
    expect(lines).to.deep.equal([]);
    await rm(`${file}-owner`);
    await first.verify();
    expect(lines.map(({ message }) => message)).to.deep.equal(['the lock of a file was removed and is taken again']);
    const clock = fakeClock();
    const refused = await outlast(
      clock,
      OwnerLock.take(file, { clock, log: SILENT }).catch((error: unknown) => error),
    );
    expect(refused).to.be.instanceOf(Error);
    await rm(`${file}-owner`);
    await held(file);
    const fault = await first.verify().catch((error: unknown) => error);
    expect(fault)
      .to.have.property('message')
      .that.matches(/was removed, and another process has taken it/);
  });

  it('of which several stores share the lock', async () => {
    const file = join(await temporaryFolder(), 'all.db');
    const variables = {
      ...sqlite(file),
      CONFIG_STORE_BACKEND: 'sqlite',
      CONFIG_STORE_DSN: file,
      REQUEST_LOG_STORE_BACKEND: 'sqlite',
      REQUEST_LOG_STORE_DSN: file,
    };
    const first = await startOn(variables);
    expect((await first.post('/admin/keys', { name: 'ada', scopes: ['admin'] })).status).to.equal(201);
    await first.close();
    const second = await startOn(variables);
    expect((await second.get('/admin/keys')).json()).to.have.length(1);
  });

  it('and so has one name', async () => {
    const folder = await temporaryFolder();
    const t = await startOn(sqlite(join(folder, 'keys.db')));
    await t.close();
    await link(join(folder, 'keys.db'), join(folder, 'second.db'));
    const refusal = await startOn(sqlite(join(folder, 'second.db'))).catch((error: unknown) => error);
    expect(String((refusal as Error).cause)).to.match(/second\.db has 2 names \(hard links\)/);
  });

  it('and a database in memory has no lock', async () => {
    const [first, second] = await Promise.all([startOn(sqlite(':memory:')), startOn(sqlite(':memory:'))]);
    await first.host.stores.keys.create({ name: 'n', scopes: [] });
    expect(await allKeys(second.host.stores.keys)).to.deep.equal([]);
  });
});

describe('two gateways on one file of SQLite', function twice() {
  this.timeout(120_000);

  it('are one that serves and one that waits, by a link too, until the first is killed', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'keys.db');
    const first = await startGateway({ variables: sqlite(file) });
    expect((await stat(`${file}-owner`)).mode & 0o777).to.equal(0o600);
    expect((await stat(`${file}-owner.json`)).mode & 0o777).to.equal(0o600);
    await symlink(file, join(folder, 'link.db'));
    const second = serve({ ...sqlite(join(folder, 'link.db')), LOG_LEVEL: 'info' });
    await eventually(() => second.said().includes('waiting for the process that has the file open'), 30_000);
    expect(second.said()).to.include(`"pid":${first.child.pid}`);
    second.child.kill('SIGTERM');
    expect(await once(second.child, 'close')).to.deep.equal([0, null]);
    expect(second.said()).to.include('gw stopped before it had started').and.not.include('gw started');
    const doctor = await runGw(['doctor'], { variables: { MASTER_KEY, ...sqlite(file) } });
    expect(doctor.stdout).to.include(`keys.db, open in process ${first.child.pid} on `);
    await first.stop('SIGKILL');
    const third = await startGateway({ variables: sqlite(file) });
    expect(third.lines.filter(({ msg }) => String(msg).startsWith('waiting for'))).to.deep.equal([]);
    expect(await third.stop()).to.equal(0);
  });

  it('do not keep other programs from reading it, or from making a copy', async () => {
    const folder = await temporaryFolder();
    const file = join(folder, 'keys.db');
    const gateway = await startGateway({ variables: sqlite(file) });
    const make = async (name: string): Promise<number> =>
      (
        await fetch(`${gateway.url}/admin/keys`, {
          method: 'POST',
          headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ name, scopes: ['read_only'] }),
        })
      ).status;
    expect(await make('before')).to.equal(201);
    const copy = join(folder, 'copy.db');
    const script = `import { backup, DatabaseSync } from 'node:sqlite';
      await backup(new DatabaseSync(${JSON.stringify(file)}, { readOnly: true }), ${JSON.stringify(copy)});
      console.log(new DatabaseSync(${JSON.stringify(copy)}).prepare('SELECT name FROM api_keys').all().map(({ name }) => name).join());`;
    const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script]);
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    expect(said.trim()).to.equal('before');
    expect(await make('behind')).to.equal(201);
    expect(await gateway.stop()).to.equal(0);
  });

  inSoak('end the second one after 30 s, with a message, also in a process of another container', async () => {
    const file = join(await temporaryFolder(), 'keys.db');
    const first = await startGateway({ variables: sqlite(file) });
    const namespaces = process.getuid?.() === 0 ? [[], ['unshare', '--pid', '--fork', '--mount-proc']] : [[]];
    for (const through of namespaces) {
      const { child, said } = serve(sqlite(file), ...through);
      expect(await once(child, 'close')).to.deep.equal([1, null]);
      expect(said()).to.match(new RegExp(`keys\\.db is open in process ${first.child.pid} on \\S+ since \\S+;`));
    }
    expect(
      (await fetch(`${first.url}/admin/keys`, { headers: { authorization: `Bearer ${first.key}` } })).status,
    ).to.equal(200);
  });
});
