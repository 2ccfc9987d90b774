import { cp, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { existsSync, globSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { createGateway } from 'gw';
import { readExample } from '../../examples/runner/example.mjs';
import { runExample, steady, withOutput } from '../../examples/run.mjs';
import { isSoak, requireTool, temporaryFolder } from '../kit/index.ts';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));
const NAMES = globSync('*/run.sh', { cwd: EXAMPLES }).map(dirname).toSorted();

interface Started {
  readonly folder: string;
  readonly config?: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A gateway of this process in the place of one of its own: the same configuration, and a tenth of the time. */
async function startGateway({ config, env }: Started): Promise<{ url: string; stop: () => Promise<void> }> {
  const gateway = await createGateway({ ...(config && { config }), env, planes: ['data', 'control'], log: () => {} });
  const server = createServer((request, response) => gateway.handler(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as { port: number };
  const stop = async (): Promise<void> => {
    await gateway.drain(0);
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  };
  return { url: `http://127.0.0.1:${port}`, stop };
}

/** Plays an example from a copy of its folder, as a reader has it; what imports packages by their names stays where they are found. */
async function played(name: string, inProcesses: boolean): Promise<string> {
  const own = join(EXAMPLES, name);
  const isServer = readExample(own).server !== undefined;
  const folder = isServer ? own : join(await temporaryFolder(), name);
  if (!isServer) await cp(own, folder, { recursive: true });
  let output = '';
  const print = (line: string): void => {
    output += `${line}\n`;
  };
  const failures = await runExample(folder, { print, ...(!inProcesses && { services: { startGateway } }) });
  expect(failures, output).to.equal(0);
  return output;
}

describe('the examples', () => {
  it('are a folder each, with what they are, their steps, and a line in the table', async () => {
    const table = await readFile(join(EXAMPLES, 'README.md'), 'utf8');
    const folders = readdirSync(EXAMPLES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    expect(folders.map(({ name }) => name).filter((name) => !['deploy', 'runner'].includes(name))).to.deep.equal(NAMES);
    for (const name of NAMES) {
      const { about } = readExample(join(EXAMPLES, name));
      expect(table, name).to.include(`| [\`${name}\`](${name}) | ${about} |`);
      expect(existsSync(join(EXAMPLES, name, 'config.yaml')), name).to.equal(true);
    }
  });

  for (const name of NAMES) {
    const { needs, soak } = readExample(join(EXAMPLES, name));
    if (soak && !isSoak()) continue;
    it(`${name} does what it says, and its README shows it`, async function play() {
      for (const tool of needs) requireTool(this, tool);
      const readme = await readFile(join(EXAMPLES, name, 'README.md'), 'utf8');
      expect(withOutput(readme, await played(name, isSoak()))).to.equal(readme);
    });
  }

  it('say what was expected and what came, where an answer is another one', async () => {
    const folder = join(await temporaryFolder(), 'wrong');
    await cp(join(EXAMPLES, 'quickstart'), folder, { recursive: true });
    const example = {
      ...readExample(folder),
      keys: {},
      steps: [{ say: 'a', path: '/livez', method: 'GET', expect: { status: 418 } }],
    };
    await writeFile(join(folder, 'example.json'), JSON.stringify(example));
    const lines: string[] = [];
    const failures = await runExample(folder, {
      print: (line: string) => lines.push(line),
      services: { startGateway },
    });
    expect([failures, lines.at(-1)]).to.deep.equal([1, '!! status: expected 418, got 200']);
  });

  it('know every member of example.json, and refuse others', async () => {
    const folder = await temporaryFolder();
    for (const wrong of [
      { stps: [] },
      { steps: [{ say: 'a', expct: {} }] },
      { steps: [{ say: 'a', expect: { satus: 1 } }] },
    ]) {
      await writeFile(join(folder, 'example.json'), JSON.stringify({ about: 'a', steps: [], ...wrong }));
      expect(() => readExample(folder), JSON.stringify(wrong)).to.throw(/example\.json: an? \w+ has no /);
    }
  });

  it('show the same output whatever ports, keys, ids and times are', () => {
    expect(steady('gw_0123456789abcdef at http://127.0.0.1:4711, 2026-01-31T12:00:00.5Z')).to.equal('… at http://…, …');
  });
});
