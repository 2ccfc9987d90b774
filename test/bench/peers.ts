import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { accepts, freePort, untilReady } from './ready.ts';
import { type Bench, running, type Subject } from './subjects.ts';
import type { Workspace } from './workspace.ts';

/** Another gateway, as its package is published. */
interface Peer {
  readonly version: string;
  /** Dependencies that are held at a version. */
  readonly overrides: Readonly<Record<string, string>>;
  /** Its program, inside the package. */
  readonly entry: string;
  readonly args: (port: number) => readonly string[];
  readonly headers: (upstreamUrl: string) => Readonly<Record<string, string>>;
}

export const PEERS: Readonly<Record<string, Peer>> = {
  /** Takes provider, key and upstream from each request. Source: the package's README and `build/start-server.js`, 1.15.2. */
  '@portkey-ai/gateway': {
    version: '1.15.2',
    // From 1.14.2 on it answers streams with 500, "TypeError: immutable" (tried: 1.14.1 works, 1.14.2 and 1.19.19 do not;
    // Portkey-AI/gateway, issue 1389).
    overrides: { '@hono/node-server': '1.14.1' },
    entry: 'build/start-server.js',
    args: (port) => [`--port=${port}`, '--headless'],
    headers: (upstreamUrl) => ({
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': upstreamUrl,
      authorization: 'Bearer sk-benchbenchbenchbench',
    }),
  },
};

export async function peer({ workspace, machine }: Bench, name: string): Promise<Subject> {
  const known = PEERS[name];
  if (known === undefined) throw new Error(`no peer "${name}"`);
  const folder = await install(workspace, name, known);
  const program = join(folder, 'node_modules', name, known.entry);
  const label = `${name}@${known.version}`;
  return {
    name: label,
    isChatOnly: true,
    start: async (upstreamUrl) => {
      const port = await freePort();
      const startedAt = performance.now();
      const child = workspace.start([...machine.pin, process.execPath, program, ...known.args(port)], { cwd: folder });
      await untilReady(label, child, () => accepts(port));
      return running(child, { name: label, port, startedAt, headers: known.headers(upstreamUrl) });
    },
  };
}

/** Once; the cache, in the folder for temporary files, outlives the run. What a run could not finish never gets there. */
async function install(workspace: Workspace, name: string, { version, overrides }: Peer): Promise<string> {
  const caches = join(tmpdir(), `gw-bench-peers-${userInfo().username}`);
  const fileName = name.replaceAll('/', '-');
  const folder = join(caches, fileName);
  const manifest = JSON.stringify({ private: true, dependencies: { [name]: version }, overrides });
  const manifestFile = join(folder, 'package.json');
  if (existsSync(manifestFile) && readFileSync(manifestFile, 'utf8') === manifest) return folder;
  const draft = join(workspace.folder, fileName);
  mkdirSync(draft);
  writeFileSync(join(draft, 'package.json'), manifest);
  process.stderr.write(`installing ${name}@${version}\n`);
  await workspace.run(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: draft });
  mkdirSync(caches, { recursive: true, mode: 0o700 });
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
  return folder;
}
