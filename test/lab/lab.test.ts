import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import {
  ask,
  atEnd,
  compileScript,
  eventually,
  FAULTS,
  isSoak,
  loadScript,
  SCRIPTS,
  startGateway,
  temporaryFolder,
  inSoak,
} from '../kit/index.ts';
import { readOptions } from './options.ts';

/** Requests of a story. */
const TURNS = isSoak() ? 40 : 8;
const LAB = fileURLToPath(new URL('lab.ts', import.meta.url));

interface Lab {
  readonly child: ChildProcess;
  readonly url: string;
  stdout(): string;
  readonly exited: Promise<number | null>;
}

async function startLab(...args: readonly string[]): Promise<Lab> {
  const { PATH } = process.env;
  const child = spawn(process.execPath, [LAB, '--port', '0', ...args], {
    env: { PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let stdout = '';
  const listening = Promise.withResolvers<string>();
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    const [, url] = /listening on (\S+?),/.exec(stdout) ?? [];
    if (url) listening.resolve(url);
  });
  void exited.then((code) => listening.reject(new Error(`the lab ended with ${code}`)));
  atEnd(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  return { child, url: await listening.promise, stdout: () => stdout, exited };
}

const chatLines = (lab: Lab): string[] =>
  lab
    .stdout()
    .split('\n')
    .filter((line) => /^#\d+ chat/.test(line));

/** Asks the lab itself, one request after another, and leaves it where it goes silent; what it says of each. */
async function story(seed: string): Promise<string[]> {
  const lab = await startLab('--script', 'chaos', '--seed', seed);
  for (let turn = 0; turn < TURNS; turn += 1) {
    const leaving = new AbortController();
    let isOver = false;
    const asked = fetch(`${lab.url}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(ask('hi', { stream: turn % 2 === 0 })),
      signal: leaving.signal,
    })
      .then((response) => response.text())
      .catch(() => 'broken')
      .finally(() => {
        isOver = true;
      });
    await eventually(() => isOver || (chatLines(lab)[turn]?.endsWith('then silence)') ?? false));
    leaving.abort();
    await asked;
  }
  lab.child.kill('SIGTERM');
  await lab.exited;
  return chatLines(lab);
}

describe('npm run lab', function suite() {
  this.timeout(60_000);

  it('plays an outage to a gateway that is pointed at it, and says what it does', async () => {
    const lab = await startLab('--script', 'outage');
    const folder = await temporaryFolder();
    await writeFile(
      join(folder, 'config.yaml'),
      'strategy: { mode: single }\ntargets:\n  - virtual_key: openai\n    models: [lab]\n',
    );
    const gateway = await startGateway({
      cwd: folder,
      variables: { GATEWAY_CONFIG: join(folder, 'config.yaml'), OPENAI_API_KEY: 'lab', OPENAI_BASE_URL: lab.url },
    });
    const statuses: number[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        body: JSON.stringify(ask('hi', { model: 'lab' })),
      });
      statuses.push(answer.status);
      await answer.text();
    }
    expect(statuses).to.deep.equal([...Array.from({ length: 10 }, () => 200), 502, 502]);
    expect(lab.stdout())
      .to.match(/^#10 chat: ok \(200, \d+ bytes\)$/m)
      .and.match(/^#11 chat: status \(503, \d+ bytes\)$/m);
    lab.child.kill('SIGTERM');
    expect(await lab.exited).to.equal(0);
    expect(lab.stdout()).to.match(/^lab: ok 10, status 2$/m);
  });

  inSoak('does the same again with the same seed, and something else with another', async () => {
    const [first, again, other] = [await story('7'), await story('7'), await story('8')];
    expect(first).to.have.length(TURNS);
    expect(again).to.deep.equal(first);
    expect(other).to.not.deep.equal(first);
  });

  it('lists every script and fault', async () => {
    const child = spawn(process.execPath, [LAB, '--list'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    expect(
      await new Promise((resolve) => {
        child.on('close', resolve);
      }),
    ).to.equal(0);
    for (const name of [...Object.keys(SCRIPTS), ...Object.keys(FAULTS)])
      expect(stdout).to.match(new RegExp(`^  ${name} `, 'm'));
  });
});

describe('options of the lab', () => {
  for (const [args, message] of [
    [['--port', 'x'], '--port must be a whole number up to 65535, not "x"'],
    [['--seed', '-1'], 'argument is ambiguous'],
    [['--speed', '1'], "Unknown option '--speed'"],
  ] as const) {
    it(`are refused: ${args.join(' ')}`, () => {
      expect(() => readOptions(args)).to.throw(message);
    });
  }
});

describe('scripts of the lab', () => {
  const script = async (text: string): Promise<string> => {
    const path = join(await temporaryFolder(), 'outage.yaml');
    await writeFile(path, text);
    return path;
  };
  const call = (place: number): Parameters<ReturnType<typeof loadScript>>[0] => ({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {},
    text: '{}',
    place,
    nth: 0,
    random: () => 0.5,
  });

  it('play their lines in order, as often as they say', async () => {
    const play = loadScript(
      await script(
        'steps:\n  - { fault: ok, times: 2 }\n  - { fault: status, status: 503, headers: { retry-after: "2" } }\nthen: repeat\n',
      ),
    );
    expect([0, 1, 2, 3, 5].map((place) => play(call(place)).fault)).to.deep.equal([
      'ok',
      'ok',
      'status',
      'ok',
      'status',
    ]);
    expect(play(call(2))).to.deep.equal({ fault: 'status', status: 503, headers: { 'retry-after': '2' } });
  });

  it('draw by weight, and end well unless they repeat', () => {
    const play = compileScript({ steps: [{ mix: { silence: 1, 'reset-before': 3 }, wait_ms: 5 }] });
    expect(play({ ...call(0), random: () => 0.2 })).to.deep.equal({ fault: 'silence', wait_ms: 5 });
    expect(play({ ...call(0), random: () => 0.3 }).fault).to.equal('reset-before');
    expect(play(call(1))).to.deep.equal({ fault: 'ok' });
  });

  for (const [text, message] of [
    ['[]', 'a script is an object with a list "steps"'],
    ['steps: []', 'at least one line'],
    ['steps: [{ fault: ok }]\nafter: x', 'unknown key "after"'],
    ['steps: [{ fault: explode }]', 'steps[0]: unknown fault "explode"; known are ok'],
    ['steps: [{}]', 'needs either "fault" or "mix"'],
    ['steps: [{ fault: ok, mix: { ok: 1 } }]', 'needs either "fault" or "mix"'],
    ['steps: [{ fault: ok, tmies: 3 }]', 'unknown key "tmies"'],
    ['steps: [{ fault: ok, times: 0 }]', '"times" must be a whole number above 0'],
    ['steps: [{ mix: 3 }]', '"mix" must be an object of weights'],
    ['steps: [{ mix: { ok: often } }]', 'the weights of "mix" must be numbers'],
    ['steps: [{ fault: ok }]\nthen: stop', '"then" is "repeat" or "ok"'],
  ] as const) {
    it(`are refused with the reason: ${text.replaceAll('\n', ' ')}`, async () => {
      const path = await script(text);
      expect(() => loadScript(path)).to.throw(message);
    });
  }

  it('that do not exist are refused with those that do', () => {
    expect(() => loadScript('nosuch')).to.throw('"nosuch" is neither a script (ok, outage,');
  });
});

describe('docs/lab.md', () => {
  const text = readFileSync(fileURLToPath(new URL('../../docs/lab.md', import.meta.url)), 'utf8');
  const rows = (heading: string): Record<string, string> =>
    Object.fromEntries(
      [...(text.split(`## ${heading}`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| `([a-z0-9-]+)` \| (.*) \|$/gm)].map(
        ([, name, summary]) => [name, summary],
      ),
    );

  it('explains every script and every fault, as --list does', () => {
    const summaries = (entries: Readonly<Record<string, { readonly summary: string }>>): Record<string, string> =>
      Object.fromEntries(Object.entries(entries).map(([name, { summary }]) => [name, summary]));
    expect(rows('Scripts')).to.deep.equal(summaries(SCRIPTS));
    expect(rows('Faults')).to.deep.equal(summaries(FAULTS));
  });
});
