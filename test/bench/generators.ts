import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Shape } from './bodies.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import type { Machine } from './machine.ts';
import { nextMessage, outputOf, type Workspace } from './workspace.ts';

export type Generator = (order: LoadOrder) => Promise<LoadResult>;

export interface Generators {
  /** Which programs ask; for the facts. */
  readonly programs: string;
  /** Asks as fast as the subject answers. */
  load(shape: Shape): Generator;
  /** Asks to see how long an answer takes. */
  latency(shape: Shape): Generator;
}

/** More than any run takes; a run ends by its number of requests. */
const LONGEST_SECONDS = 180;

/** wrk when there is one, else autocannon, which rounds latencies to milliseconds and so measures none; paced streams are for Node. */
export function startGenerators(workspace: Workspace, { tools }: Machine): Generators {
  const node = nodeGenerator(workspace);
  const wrk = tools.wrk === undefined ? undefined : wrkGenerator(workspace, tools.wrk);
  const autocannon = tools.autocannon === undefined ? undefined : autocannonGenerator(workspace, tools.autocannon);
  const fast = wrk ?? autocannon ?? node;
  const name = wrk === undefined ? 'autocannon, node (paced, latency)' : 'wrk, node (paced)';
  return {
    programs: fast === node ? 'node' : name,
    load: (shape) => (shape === 'paced' ? node : fast),
    latency: (shape) => (shape === 'paced' ? node : (wrk ?? node)),
  };
}

function nodeGenerator(workspace: Workspace): Generator {
  const child = workspace.start([process.execPath, fileURLToPath(new URL('load.ts', import.meta.url))], { ipc: true });
  return (order) => {
    child.process.send(order);
    return nextMessage<LoadResult>(child);
  };
}

function wrkGenerator(workspace: Workspace, program: string): Generator {
  const script = join(workspace.folder, 'wrk.lua');
  return async (order) => {
    writeFileSync(script, wrkScript(order));
    const command = [
      program,
      '-t1',
      `-c${order.connections}`,
      `-d${LONGEST_SECONDS}s`,
      '--timeout',
      '30s',
      '-s',
      script,
      order.url,
    ];
    const child = workspace.start(command, { stdout: 'pipe' });
    child.process.stderr?.on('data', () => {
      if (child.stderr().includes(ALL_SENT)) child.process.kill('SIGINT');
    });
    const output = await outputOf(child, command);
    return JSON.parse(output.slice(output.indexOf('{'))) as LoadResult;
  };
}

/** What the script says when nothing is left to ask. */
const ALL_SENT = 'all sent';

/**
 * wrk runs for a time. The script stops its thread by count, and an interrupt makes it report at once instead of sleeping
 * on. Up to one request a connection is then under way, and not counted.
 */
function wrkScript({ body, headers, requests }: LoadOrder): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[ ${luaString(name)} ] = ${luaString(value)}`,
  );
  return `wrk.method = "POST"
wrk.body = ${luaString(body)}
${lines.join('\n')}
local bytes
local left = ${requests}
function init(args) bytes = wrk.format() end
function request()
  left = left - 1
  if left < 0 then
    wrk.thread:stop()
    io.stderr:write("${ALL_SENT}")
  end
  return bytes
end
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('{"requests":%d,"failures":%d,"seconds":%.6f,"p50":%d,"p99":%d}',
    summary.requests, failures, summary.duration / 1e6, latency:percentile(50), latency:percentile(99)))
end
`;
}

/** Long brackets take any text without their own end; two of them in a row need a space. */
const luaString = (text: string): string => `[==[${text}]==]`;

interface AutocannonReport {
  readonly requests: { readonly total: number };
  readonly errors: number;
  readonly non2xx: number;
  readonly duration: number;
}

function autocannonGenerator(workspace: Workspace, program: string): Generator {
  const input = join(workspace.folder, 'body.json');
  return async (order) => {
    writeFileSync(input, order.body);
    const headers = Object.entries(order.headers).flatMap(([name, value]) => ['-H', `${name}=${value}`]);
    const counts = ['-c', String(order.connections), '-a', String(order.requests)];
    const output = await workspace.run([
      process.execPath,
      program,
      '-j',
      '-m',
      'POST',
      ...counts,
      ...headers,
      '-i',
      input,
      order.url,
    ]);
    const { requests, errors, non2xx, duration } = JSON.parse(output) as AutocannonReport;
    return { requests: requests.total, failures: errors + non2xx, seconds: duration, p50: Number.NaN, p99: Number.NaN };
  };
}
