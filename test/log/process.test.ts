import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import {
  atEnd,
  BIN,
  type GatewayProcess,
  type ProcessOptions,
  inSoak,
  requireTool,
  runGw,
  some,
  startGateway,
  temporaryFolder,
} from '../kit/index.ts';

/** The text of a path is in its access line: the longer, the sooner the log is full. */
const LONG_PATH = `/${'p'.repeat(1000)}`;

function opened(path: string, flags: number): number {
  const descriptor = openSync(path, flags);
  atEnd(() => {
    try {
      closeSync(descriptor);
    } catch {
      /* the test closed it */
    }
  });
  return descriptor;
}

/** A pipe in the file system: its ends, for a child to write and for a test to read, or not to. */
async function fifo(): Promise<{ readonly reader: number; readonly writer: number }> {
  const path = join(await temporaryFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  const reader = opened(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { reader, writer: opened(path, constants.O_WRONLY) };
}

const serving = async (stdout: number, options: ProcessOptions = {}): Promise<GatewayProcess> =>
  startGateway({ cwd: await temporaryFolder(), stdout, ...options });

/** Leaves `count` lines of more than a kilobyte. */
async function leaveLines({ url }: GatewayProcess, count: number): Promise<void> {
  const lane = async (): Promise<void> => {
    for (let done = 0; done < count / 8; done += 1) expect((await fetch(`${url}${LONG_PATH}`)).status).to.equal(404);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

/** Still serves, and ends by itself after a signal. */
async function expectToServeAndEnd(gateway: GatewayProcess): Promise<void> {
  expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
  expect(await gateway.stop('SIGTERM')).to.equal(0);
}

const linesOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Bytes, where the shell limits them. */
const LARGEST_FILE = 2 * 1024 * 1024;

describe('a process whose log cannot be written', () => {
  inSoak('serves and ends where there is no space left', async () => {
    const gateway = await serving(opened('/dev/full', constants.O_WRONLY));
    await leaveLines(gateway, 64);
    await expectToServeAndEnd(gateway);
  });

  it('serves and ends where its file may not grow', async () => {
    const path = join(await temporaryFolder(), 'log');
    const gateway = await serving(opened(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND), {
      through: ['bash', '-c', 'ulimit -f 8; exec "$@"', '-'],
    });
    await leaveLines(gateway, 64);
    await expectToServeAndEnd(gateway);
    expect(readFileSync(path)).to.have.length(8 * 1024);
  });

  inSoak('serves and ends where its pipe is not read any more', async () => {
    const { reader, writer } = await fifo();
    const gateway = await serving(writer);
    closeSync(reader);
    await leaveLines(gateway, 64);
    await expectToServeAndEnd(gateway);
  });

  it('serves and ends where the reader of its pipe has stopped reading', async () => {
    const { writer } = await fifo();
    const gateway = await serving(writer);
    await leaveLines(gateway, 200);
    await expectToServeAndEnd(gateway);
  });

  inSoak('serves and ends where the reader of its socket has stopped reading', async () => {
    const gateway = await startGateway({ cwd: await temporaryFolder() });
    gateway.child.stdout?.pause();
    await leaveLines(gateway, 600);
    expect((await fetch(`${gateway.url}/livez`)).status).to.equal(200);
    const exit = new Promise<number | null>((resolve) => {
      gateway.child.once('exit', resolve);
    });
    gateway.child.kill('SIGTERM');
    expect(await exit).to.equal(0);
  });

  for (const [state, what] of some(
    [
      ['stopped', 'a terminal has been stopped'],
      ['gone', 'a terminal is gone, and writing to it an error of the device'],
    ] as const,
    { every: 2, from: 1 },
  )) {
    it(`serves and ends where ${what}`, async function terminal() {
      const python = requireTool(this, 'python3');
      const script = join(import.meta.dirname, 'silent-terminal.py');
      const report = JSON.parse(
        execFileSync(python, [script, state, process.execPath, BIN], {
          cwd: await temporaryFolder(),
          encoding: 'utf8',
          timeout: 60_000,
        }),
      ) as object;
      expect(report).to.deep.equal({ served: true, code: 0 });
    });
  }

  inSoak('loses what is too much, and says how much when the log can be written again', async function lostLines() {
    this.timeout(60_000);
    const path = join(await temporaryFolder(), 'log');
    const gateway = await serving(opened(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND), {
      through: ['bash', '-c', `ulimit -f ${LARGEST_FILE / 1024}; exec "$@"`, '-'],
    });
    const asked = 6000;
    await leaveLines(gateway, asked);
    let earlier = '';
    const written = (): string => earlier + readFileSync(path, 'utf8');
    const lost = (): Record<string, unknown>[] => {
      const text = written(); // read once: more may be written meanwhile, up to the middle of a line
      return text.endsWith('\n') ? linesOf(text).filter(({ msg }) => msg === 'log lines were lost') : [];
    };
    while (lost().length === 0) {
      if (statSync(path).size === LARGEST_FILE) {
        // nothing is written then, so that nothing is lost here
        earlier = written();
        truncateSync(path, 0);
      }
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    expect(lost()[0]).to.include({ level: 'ERROR', reason: 'EFBIG' });
    const kept = linesOf(written()).filter(({ msg }) => msg === 'http request');
    expect(lost().reduce((sum, { lines }) => sum + Number(lines), 0) + kept.length).to.equal(asked);
    expect(await gateway.stop('SIGTERM')).to.equal(0);
  });
});

describe('a command that cannot print', () => {
  it('says so and exits with 1', async () => {
    const { code, stderr } = await runGw(['version'], { stdout: opened('/dev/full', constants.O_WRONLY) });
    expect(code).to.equal(1);
    expect(stderr).to.match(/^Error: [^\n]*ENOSPC[^\n]*\n$/);
  });

  it('says nothing of a reader that has seen enough', async () => {
    const { reader, writer } = await fifo();
    closeSync(reader);
    const { code, stderr } = await runGw(['help'], { stdout: writer });
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
  });

  it('fails when stderr cannot be written: the report of another failure, or a key that is shown once', async () => {
    for (const command of ['nonsense', 'init']) {
      expect(
        (await runGw([command], { cwd: await temporaryFolder(), stderr: opened('/dev/full', constants.O_WRONLY) }))
          .code,
        command,
      ).to.equal(1);
    }
  });

  inSoak('waits for a slow reader with what is longer than a pipe', async () => {
    const cwd = await temporaryFolder();
    const list = Array.from({ length: 20_000 }, (_, index) => `a-model-of-some-length-${index}`);
    const { writeFile } = await import('node:fs/promises');
    await writeFile(join(cwd, 'config.json'), JSON.stringify({ targets: [{ virtual_key: 'echo', models: list }] }));
    const text = execFileSync(
      'bash',
      ['-c', '"$@" | { sleep 1.5; cat; }', '-', process.execPath, BIN, 'validate', 'config.json', '--format', 'json'],
      { cwd, encoding: 'utf8', maxBuffer: 1 << 24 },
    );
    expect((JSON.parse(text) as { targets: { models: string[] }[] }).targets[0]?.models).to.deep.equal(list);
  });
});
