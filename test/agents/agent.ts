import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import {
  atEnd,
  type GatewayProcess,
  startGateway,
  type StubUpstream,
  stubUpstream,
  temporaryFolder,
} from '../kit/index.ts';
import { scripted, type Step } from './scripted.ts';

const INSTALL_MS = 240_000;
const RUN_MS = 90_000;

/** A coding agent as its npm package has it. */
export interface Agent {
  readonly packageName: string;
  readonly version: string;
  /** Its command. */
  readonly bin: string;
  /** What of the package has to run once it is there. npm runs nothing of a package by itself. */
  readonly afterwards?: string;
}

const folderOf = ({ bin, version }: Agent): string => join(tmpdir(), `gw-agents-${bin}-${version}`);

/** Installs an agent before the first test of the suite, once on a machine; without a registry, the suite is skipped. */
export function installBefore(agent: Agent): void {
  before(async function install() {
    this.timeout(INSTALL_MS);
    const { packageName, version, bin, afterwards } = agent;
    const folder = folderOf(agent);
    if (existsSync(join(folder, 'ready'))) return;
    await mkdir(folder, { recursive: true });
    const execute = promisify(execFile);
    try {
      await execute('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `${packageName}@${version}`], {
        timeout: INSTALL_MS,
      });
      if (afterwards !== undefined)
        await execute(process.execPath, [join(folder, 'node_modules', packageName, afterwards)], {
          timeout: INSTALL_MS,
        });
      await execute(join(folder, 'node_modules', '.bin', bin), ['--version'], {
        timeout: RUN_MS,
        env: surroundings(folder),
      });
    } catch {
      this.skip();
    }
    await writeFile(join(folder, 'ready'), '');
  });
}

const surroundings = (home: string): Record<string, string> => ({
  PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
  HOME: home,
});

/** A gateway in front of a scripted model, and empty folders for an agent. */
export interface Bench {
  readonly gateway: GatewayProcess;
  readonly upstream: StubUpstream;
  readonly home: string;
  readonly work: string;
}

/** Serves the model `model` of `target` under the name `name` also. */
export async function benchWith(
  target: string,
  model: string,
  name: string,
  stepsOf: (tools: readonly string[]) => readonly Step[],
  baseOf: (url: string) => string = (url) => url,
): Promise<Bench> {
  const upstream = await stubUpstream(scripted(stepsOf));
  const folder = await temporaryFolder();
  const [home, work, config] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'config.yaml')];
  await mkdir(home);
  await mkdir(work);
  await writeFile(
    config,
    `targets:\n  - virtual_key: ${target}\n    models: [${model}]\naliases:\n  ${name}: ${model}\nresponses:\n  translate: auto\n`,
  );
  const variable = target.toUpperCase();
  const gateway = await startGateway({
    cwd: folder,
    variables: {
      GATEWAY_CONFIG: config,
      [`${variable}_API_KEY`]: 'upstream-key',
      [`${variable}_BASE_URL`]: baseOf(upstream.url),
    },
  });
  return { gateway, upstream, home, work };
}

/** Runs an agent to its end, in its folder; gives all it printed. */
export async function runAgent(
  agent: Agent,
  args: readonly string[],
  { home, work }: Pick<Bench, 'home' | 'work'>,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(join(folderOf(agent), 'node_modules', '.bin', agent.bin), args, {
    cwd: work,
    env: { ...surroundings(home), ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEnd(() => {
    child.kill('SIGKILL');
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), RUN_MS);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8');
    });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  expect(code, said).to.equal(0);
  return said;
}
