import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endpointOf, type Naming, NAMINGS, replyBody, type Shape } from './bodies.ts';
import type { Machine } from './machine.ts';
import { accepts, freePort, untilReady } from './ready.ts';
import { nextMessage, type Workspace } from './workspace.ts';

export interface Upstreams {
  /** Which program answers; for the facts. */
  readonly programs: string;
  /** What a subject appends the endpoint of the shape to. */
  baseUrl(shape: Shape, naming: Naming): string;
}

/** nginx for what is answered in one piece, when there is one: it takes less of the load's core. Paced streams come from Node. */
export async function startUpstreams(workspace: Workspace, { tools }: Machine): Promise<Upstreams> {
  const node = await startNode(workspace);
  const nginx = tools.nginx === undefined ? undefined : await startNginx(workspace, tools.nginx);
  return {
    programs: nginx === undefined ? 'node' : 'nginx, node (paced)',
    baseUrl: (shape, naming) => `${shape === 'paced' || nginx === undefined ? node : nginx}/${naming}/${shape}/v1`,
  };
}

async function startNode(workspace: Workspace): Promise<string> {
  const child = workspace.start([process.execPath, fileURLToPath(new URL('upstream.ts', import.meta.url))], {
    ipc: true,
  });
  const { port } = await nextMessage<{ port: number }>(child);
  return `http://127.0.0.1:${port}`;
}

/** `undefined` when this nginx does not take the configuration. */
async function startNginx(workspace: Workspace, program: string): Promise<string | undefined> {
  const folder = join(workspace.folder, 'nginx');
  const port = await freePort();
  mkdirSync(folder);
  for (const naming of NAMINGS) {
    for (const shape of STREAMS) {
      const file = join(folder, locationOf(shape, naming));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, replyBody(shape, naming));
    }
  }
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port));
  const command = [program, '-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
  const doesTakeIt = (await workspace.start([...command, '-t']).exited) === 0;
  if (!doesTakeIt) return undefined;
  await untilReady('nginx', workspace.start(command), () => accepts(port));
  return `http://127.0.0.1:${port}`;
}

/** Streams that come in one piece. */
const STREAMS: readonly Shape[] = ['burst', 'messages'];

const locationOf = (shape: Shape, naming: Naming): string => `/${naming}/${shape}/v1${endpointOf(shape)}`;

/** One process, in the foreground. Files answer GET alone, so a POST's 405 is turned into the file itself. */
function configuration(folder: string, port: number): string {
  const whole = (shape: Shape, naming: Naming): string =>
    `location = ${locationOf(shape, naming)} { default_type application/json; return 200 '${replyBody(shape, naming)}'; }`;
  const stream = (shape: Shape, naming: Naming): string =>
    `location = ${locationOf(shape, naming)} { types {} default_type text/event-stream; error_page 405 =200 $uri; }`;
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events { worker_connections 1024; }
http {
  ${folders.join(' ')}
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 300s;
  sendfile on;
  open_file_cache max=16;
  server {
    listen 127.0.0.1:${port};
    root ${folder};
    ${NAMINGS.flatMap((naming) => [whole('unary', naming), whole('forwarded', naming), ...STREAMS.map((shape) => stream(shape, naming))]).join('\n    ')}
  }
}
`;
}
