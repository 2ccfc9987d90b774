import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { fill, logger, NOON, row } from '../admin/logs-kit.ts';
import { type AdminHost, ECHO, startAdmin } from '../admin/kit.ts';
import { fakeClock, MASTER_KEY, temporaryFolder } from '../kit/index.ts';
import { runCommand } from './commands.ts';

const MEMORY = { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: ':memory:' };

describe('gw admin logs export', () => {
  let t: AdminHost;
  const gw = (...args: string[]): ReturnType<typeof runCommand> =>
    runCommand(['admin', 'logs', ...args, '--gateway-url', t.url, '--api-key', MASTER_KEY]);

  beforeEach(async () => {
    t = await startAdmin({ clock: fakeClock(NOON), variables: MEMORY }, { ...ECHO, plugins: logger() });
    fill(
      t,
      Array.from({ length: 700 }, (_each, at) => row({ created_at: NOON - at, status: at % 2 === 0 ? 200 : 429 })),
    );
  });

  it('prints the file that the gateway writes, with the filters that it was given', async () => {
    const { stdout, code } = await gw('export', '--status', '429', '--columns', 'status,created_at');
    const lines = stdout.split('\r\n');
    expect([code, lines.length, lines[0]]).to.deep.equal([0, 352, 'status,created_at']);
    expect(new Set(lines.slice(1, -1).map((line) => line.slice(0, 4)))).to.deep.equal(new Set(['429,']));
  });

  it('writes a file for its owner alone, says where there is more, and leaves an existing one as it is', async () => {
    const folder = await temporaryFolder();
    const path = join(folder, 'requests.jsonl');
    const first = await gw('export', '--as', 'jsonl', '--max-rows', '600', '-o', path);
    expect([first.code, first.stdout]).to.deep.equal([0, '']);
    expect(first.stderr).to.contain('there are more rows');
    const text = await readFile(path, 'utf8');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).stage),
    ).to.have.lengthOf(600);
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    const again = await gw('export', '-o', path);
    expect([again.code, await readFile(path, 'utf8')]).to.deep.equal([1, text]);
    expect(again.stderr).to.contain('exists already');
  });

  it('says what is wrong, and leaves no file', async () => {
    const folder = await temporaryFolder();
    const wrong = await gw('export', '--columns', 'nosuch', '-o', join(folder, 'x.csv'));
    expect([wrong.code, await readdir(folder)]).to.deep.equal([1, []]);
    expect(wrong.stderr).to.contain('nosuch');
    expect((await gw('export', '--as', 'xml')).stderr).to.contain('csv and jsonl');
  });

  it('lists addresses whose credentials are not known', async () => {
    await t.get('/v1/models', { authorization: 'Bearer gw_nobody', 'user-agent': 'probe/1' });
    const { stdout, code } = await gw('denied');
    expect(code).to.equal(0);
    expect(stdout)
      .to.match(/^ADDRESS +MISSING +INVALID +PATH/)
      .and.to.match(/127\.0\.0\.1 +0 +1 +\/v1\/models +probe\/1/);
  });
});
