import { spawnSync } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { access, cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { writeNew } from '../../builtins/cli/new-file.ts';
import { atEnd, NODE_ARGS, program, temporaryFolder } from '../kit/index.ts';
import { ROOT, runCommand } from './commands.ts';

const GW = [process.execPath, ...NODE_ARGS, program()].map((word) => `'${word}'`).join(' ');
const KEEP_DATA = fileURLToPath(new URL('../../host/keep-data.js', import.meta.url));

/** What a shell makes of a line. */
function shell(
  line: string,
  cwd: string,
): { readonly code: number | null; readonly stdout: string; readonly stderr: string } {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], {
    cwd,
    env: { PATH, HOME, PORT: '0' },
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { code: status, stdout, stderr };
}

/** A gateway whose model never stops talking, and whose log gets a row for each time that it is read. */
async function endless(): Promise<{ readonly url: string; readonly left: Promise<void> }> {
  const left = Promise.withResolvers<void>();
  const chat = (response: ServerResponse): void => {
    const timer = setInterval(() => response.write('data: {"choices":[{"delta":{"content":"more "}}]}\n\n'), 5);
    response.on('close', () => {
      clearInterval(timer);
      left.resolve();
    });
  };
  let rows = 0;
  const server = createServer((request, response) => {
    request.resume();
    if (request.method === 'POST') return chat(response);
    rows += 1;
    response.end(JSON.stringify({ data: [{ trace_id: `t${rows}`, created_at: new Date().toISOString() }] }));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.on('listening', resolve);
  });
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, left: left.promise };
}

describe('a command whose output has no reader any more', () => {
  /** What stdout does not take from so many texts on. */
  const lostAfter = (
    texts: number,
  ): {
    readonly out: string[];
    readonly io: { readonly out: (text: string) => void; readonly isOutputLost: () => boolean };
  } => {
    const out: string[] = [];
    return {
      out,
      io: {
        out: (text) => {
          out.push(text);
        },
        isOutputLost: () => out.length >= texts,
      },
    };
  };

  it('ends: gw chat, and the model is not asked on', async () => {
    const { url, left } = await endless();
    const { out, io } = lostAfter(3);
    expect((await runCommand(['chat', '--model', 'm', 'hi', '--gateway-url', url], { io })).code).to.equal(0);
    await left;
    expect(out.length).to.equal(3);
  });

  it('ends: gw admin logs list --follow', async () => {
    const { url } = await endless();
    const { out, io } = lostAfter(2);
    expect(
      (await runCommand(['admin', 'logs', 'list', '--follow', '--gateway-url', url, '--format', 'json'], { io })).code,
    ).to.equal(0);
    expect(out.length).to.equal(2);
  });
});

describe('what cannot be printed', () => {
  before(async function onlyWithFull() {
    await access('/dev/full').catch(() => this.skip());
  });

  it('is an error on stdout and on stderr, where gw init prints the only copy of a key', async () => {
    const cwd = await temporaryFolder();
    const out = shell(`${GW} version > /dev/full`, cwd);
    expect([out.code, out.stderr]).to.deep.equal([
      1,
      'Error: the output could not be written: ENOSPC: no space left on device, write\n',
    ]);
    expect(shell(`${GW} init 2> /dev/full`, cwd).code).to.equal(1);
    expect(shell(`${GW} version | true`, cwd), 'a reader that left').to.deep.include({ code: 0, stderr: '' });
  });
});

describe('a place where nothing can be kept', () => {
  it('gets one line: a working directory that was deleted', async () => {
    const folder = await temporaryFolder();
    for (const command of ['version', 'serve']) {
      await mkdir(join(folder, 'gone'));
      const { code, stdout, stderr } = shell(`rmdir "$PWD"; ${GW} ${command}`, join(folder, 'gone'));
      expect([code, stdout, stderr]).to.deep.equal([
        1,
        '',
        'Error: the working directory does not exist any more; change to one that does\n',
      ]);
    }
  });

  it('gets one line: .data is not a folder, for npm start', async () => {
    const cwd = await temporaryFolder();
    await writeFile(join(cwd, '.data'), '');
    const { code, stdout, stderr } = shell(`'${process.execPath}' '${KEEP_DATA}' serve`, cwd);
    expect(code, stdout).to.equal(1);
    expect(stderr).to.match(/^Error: GW_DATA_DIR: \.data cannot be used: ENOTDIR; [^\n]+\n$/);
  });

  it('is left as it was: a file that cannot be written whole is not there afterwards', async () => {
    const cwd = await temporaryFolder();
    const broken = {
      toString: () => {
        throw new Error('no space');
      },
    } as unknown as string; // whatever fails after the file was made
    const failed = await writeNew(join(cwd, 'config.yaml'), broken).then(
      () => false,
      () => true,
    );
    expect([failed, await readdir(cwd)]).to.deep.equal([true, []]);
    expect([
      await writeNew(join(cwd, 'config.yaml'), 'a'),
      await writeNew(join(cwd, 'config.yaml'), 'b'),
    ]).to.deep.equal([true, false]);
  });
});

describe('a clone without its packages', () => {
  it('says in one line what is missing and what installs it', async () => {
    const clone = await temporaryFolder();
    for (const part of ['package.json', 'host', 'builtins/cli'])
      await cp(join(ROOT, part), join(clone, part), { recursive: true });
    const { code, stdout, stderr } = shell(`'${process.execPath}' host/gw.js version`, clone);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr)
      .to.match(/^Error: the package "[a-z-]+", which gw needs, is not installed; run "npm ci" in \S+\n$/)
      .and.to.contain(clone);
  });
});
