import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { PROJECT } from '../bench/subjects.ts';
import { forSuite } from '../kit/cleanup.ts';
import { temporaryFolder } from '../kit/process.ts';
import { isSoak } from '../kit/random.ts';
import type { Got } from './client.ts';
import { differences } from './compare.ts';
import { PINS, pinned } from './pinned.ts';
import { describe as shown, summary } from './print.ts';
import type { Recording } from './record.ts';
import { allScenes, type Numbered, TOTAL } from './scenes/scenes.ts';
import type { Sent } from './upstream.ts';

const LEFT_OUT = new Set(['node_modules', '.git']);

function git(folder: string, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'core.hooksPath=/dev/null'];
  const { status, stdout, stderr } = spawnSync('git', [...identity, '-C', folder, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** A copy of this project with a history of its own, whose only commit is the project as it stands. */
async function copyOfProject(): Promise<string> {
  const folder = await temporaryFolder();
  for (const name of readdirSync(PROJECT))
    if (!LEFT_OUT.has(name)) cpSync(join(PROJECT, name), join(folder, name), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(folder, 'node_modules'));
  git(folder, 'init', '--quiet');
  git(folder, 'add', '--all', '--', ':!node_modules');
  git(folder, 'commit', '--quiet', '--message', 'as it stands');
  return folder;
}

/** Some exchanges of one kind, through the copy as it stands and through its commit. */
function replay(folder: string, only: string): { readonly code: number | null; readonly text: string } {
  const args = ['--against', 'HEAD', '--only', only, '--exchanges', '6'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'test/replay/replay.ts'), ...args], {
    encoding: 'utf8',
    cwd: folder,
  });
  return { code: status, text: stdout + stderr };
}

describe('the replay of two revisions', () => {
  if (!isSoak()) return; // copies the project, and starts gateways that have no compiled code
  const folder = forSuite(copyOfProject);

  it('finds no difference between a revision and itself', async () => {
    const { code, text } = replay(folder(), 'plain · messages · ');
    expect(text).to.match(/^6 exchanges, 0 differ from [0-9a-f]+\n$/);
    expect(code).to.equal(0);
  });

  it('names the exchange, the part and both texts where one word of a request to an upstream changes, and leaves no worktree', () => {
    const path = join(folder(), 'providers/anthropic/index.ts');
    const source = readFileSync(path, 'utf8');
    const changed = source.replace("?? '2023-06-01'", "?? '2023-06-02'");
    expect(changed).not.to.equal(source);
    writeFileSync(path, changed);
    const { code, text } = replay(folder(), 'plain · chat · anthropic-');
    expect(text).to.match(/^#\d+ plain · chat · anthropic-/);
    expect(text).to.include('upstream call 1: header anthropic-version\n  - 2023-06-01\n  + 2023-06-02\n');
    expect(text).to.match(/^\d+ exchanges, [1-9]\d* differ/m);
    expect(code).to.equal(1);
    expect(git(folder(), 'worktree', 'list').trim().split('\n')).to.have.length(1);
  });
});

describe('two recordings', () => {
  /** A recording of two exchanges; the upstream is called for the second alone. */
  function recorded({ version = '2023-06-01', type = 'text/plain', calls = 1 } = {}): Recording {
    const got: Got = { status: 200, headers: ['content-type', type], body: Buffer.from('hi'), end: 'whole' };
    const headers = ['anthropic-version', version];
    const call: Sent = { vendor: 'anthropic', method: 'POST', path: '/v1/messages', headers, body: Buffer.from('{}') };
    const scene = (number: number): Numbered =>
      ({ number, title: `title ${number}`, answers: [] }) as unknown as Numbered;
    const exchanges = [
      { scene: scene(1), got, sent: [] },
      { scene: scene(2), got, sent: Array.from({ length: calls }, () => call) },
    ];
    return { from: 0, to: 1, exchanges };
  }
  const told = (after: Recording): string[] => differences(recorded(), after).map(shown);

  it('that say the same do not differ', () => {
    expect(told(recorded())).to.deep.equal([]);
  });

  it('differ by exchange, part and both texts', () => {
    expect(told(recorded({ version: '2023-06-02' }))).to.deep.equal([
      '#2 title 2\n  upstream call 1: header anthropic-version\n  - 2023-06-01\n  + 2023-06-02',
    ]);
    expect(told(recorded({ type: 'text/html' }))).to.deep.equal(
      [1, 2].map((at) => `#${at} title ${at}\n  client: header content-type\n  - text/plain\n  + text/html`),
    );
    expect(told(recorded({ calls: 2 }))).to.deep.equal([
      '#2 title 2\n  upstream call 2: vendor\n  - (absent)\n  + anthropic',
    ]);
  });
});

describe('the exchanges of the replay', () => {
  it('are as many as the tool says, each with a title of its own, and the same each time', () => {
    const [first, second] = [allScenes(), allScenes()];
    expect(first).to.have.length(TOTAL);
    expect(isDeepStrictEqual(first, second), 'the same').to.equal(true);
    expect(summary(first.length, 0)).to.equal('2,000 exchanges, 0 differ');
  });
});

describe('what is of the moment', () => {
  const moment = { from: 1_790_000_000_000, to: 1_790_000_060_000, id: '0123456789abcdef0123456789abcdef' };

  it('becomes a mark: ids, ports, times of the run', () => {
    const text =
      '{"id":"msg_0123456789abcdef01234567","created":1790000030,"at":"2026-09-21T14:13:50Z","url":"http://127.0.0.1:4000/v1"}';
    expect(pinned(text, moment)).to.equal(
      '{"id":"msg_<id 24>","created":<now>,"at":"<now>","url":"http://127.0.0.1:<port>/v1"}',
    );
  });

  it('leaves other numbers and times as they are', () => {
    const text = '{"created":1763000000,"at":"2025-01-01T00:00:00Z","tokens":1790000,"id":"9876543210fe"}';
    expect(pinned(text, moment)).to.equal(text);
  });

  it('is listed with its reason', () => {
    for (const { why } of PINS) expect(why).to.match(/^\w.{20,}/);
  });
});
