/** A tool server on standard streams, for tests: what it does beside serving is in its one argument. */
import { spawn } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';

/** How a stub server differs from a plain one. */
export interface StubOptions {
  /** Names of its tools; each does what its name says, and any other gives its arguments back. */
  readonly tools?: readonly string[];
  /** What it says that it speaks. */
  readonly version?: string;
  /** Answers nothing. */
  readonly isSilent?: boolean;
  /** Writes what is not a message before each answer. */
  readonly junk?: boolean;
  /** Has two pages of tools. */
  readonly pages?: boolean;
  /** Closes its stderr at once and lives on. */
  readonly closesStderr?: boolean;
  /** Ends only by SIGKILL, and so does a child of its own. */
  readonly isStubborn?: boolean;
}

type Message = {
  readonly id?: number | string;
  readonly method?: string;
  readonly result?: unknown;
  readonly params?: { readonly name?: string; readonly arguments?: Record<string, unknown>; readonly cursor?: string };
};

const options = JSON.parse(process.argv[2] ?? '{}') as StubOptions;
let tools = options.tools ?? ['echo'];
let cancelled = 0;
let pongs = 0;
let lines: Interface | undefined;
let busy = 0;

const send = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const text = (value: string): object => ({ content: [{ type: 'text', text: value }] });
const described = (name: string): object => ({
  name,
  description: `does ${name}`,
  inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
});

/** A process of the same group that only SIGKILL ends. */
function startChild(): number | undefined {
  return spawn(
    process.execPath,
    ['-e', 'process.on("SIGTERM", () => {}); process.stdout.write("up\\n"); setInterval(() => {}, 1000)'],
    { stdio: 'inherit' },
  ).pid;
}

const DEEDS: Readonly<Record<string, (id: Message['id'], args: Record<string, unknown>) => object | undefined>> = {
  environment: () => text(JSON.stringify(process.env)),
  pid: () => text(String(process.pid)),
  die: () => process.exit(3),
  hang: () => {
    process.stderr.write('hanging now\n');
    return undefined;
  },
  flood: (id) => {
    for (let line = 0; line < 20_000; line += 1) send({ method: 'notifications/message', params: { line } });
    return id === undefined ? undefined : text('flooded');
  },
  huge: () => text('x'.repeat(50 * 1024 * 1024)),
  wide: () => ({ content: [], structuredContent: { a: Array.from({ length: 500_001 }, () => []) } }),
  long: () => text('é'.repeat(1024 * 1024)),
  blocks: () => ({
    content: [
      { type: 'text', text: 'one' },
      { type: 'image', data: 'AAAA', mimeType: 'image/png' },
    ],
  }),
  nothing: () => ({ content: [] }),
  structured: () => ({ content: [], structuredContent: { a: 1 } }),
  failing: () => ({ content: [{ type: 'text', text: 'no such file' }], isError: true }),
  longFailure: () => ({ content: [{ type: 'text', text: 'x'.repeat(10_000) }], isError: true }),
  silentFailure: () => ({ content: [], isError: true }),
  refuse: (id) => {
    send({ id, error: { code: -32000, message: 'database password is hunter2hunter2' } });
    return undefined;
  },
  garbage: () => {
    process.stdout.write('this is not JSON\n{"jsonrpc":"2.0","id":\n[1,2]\n');
    return text('after the garbage');
  },
  change: () => {
    tools = ['pid', 'fresh'];
    send({ method: 'notifications/tools/list_changed' });
    return text('changed');
  },
  shuffle: () => {
    tools = [...tools.slice(1), ...tools.slice(0, 1)];
    send({ method: 'notifications/tools/list_changed' });
    return text('shuffled');
  },
  child: () => text(String(startChild())),
  busy: (id) => {
    busy += 1;
    const atOnce = busy;
    setTimeout(() => {
      busy -= 1;
      send({ id, result: text(String(atOnce)) });
    }, 30);
    return undefined;
  },
  pings: (id, { count }) => {
    for (let at = 0; at < Number(count); at += 1) send({ id: `p${at}`, method: 'ping' });
    const wait = setInterval(() => {
      if (pongs < Number(count)) return;
      clearInterval(wait);
      send({ id, result: text(`${pongs} answers`) });
    }, 5);
    return undefined;
  },
  deafPings: () => {
    lines?.pause();
    for (let at = 0; at < 100_000; at += 1) send({ id: at, method: 'ping' });
    return undefined;
  },
  cancelled: () => text(`cancelled: ${cancelled}`),
  complain: () => {
    process.stderr.write(`${'e'.repeat(1024 * 1024)}\nthe key is ${process.env['STUB_SECRET']}\n`);
    return text('complained');
  },
};

function answer({ id, method, result, params = {} }: Message): void {
  if (options.isSilent) return;
  if (result !== undefined) {
    pongs += 1;
    return;
  }
  if (options.junk) process.stdout.write('Server starting...\n{"not": "a message"}\n\n');
  if (method === 'initialize')
    send({
      id,
      result: {
        protocolVersion: options.version ?? '2025-11-25',
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'stub', version: '1' },
      },
    });
  else if (method === 'notifications/cancelled') cancelled += 1;
  else if (method === 'ping') send({ id, result: {} });
  else if (method === 'tools/list' && options.pages && params.cursor === undefined)
    send({ id, result: { tools: tools.slice(0, 1).map(described), nextCursor: 'more' } });
  else if (method === 'tools/list')
    send({ id, result: { tools: (options.pages ? tools.slice(1) : tools).map(described) } });
  else if (method === 'tools/call') {
    const { name = '', arguments: args = {} } = params;
    const result = (DEEDS[name] ?? (() => text(`${name} ${JSON.stringify(args)}`)))(id, args);
    if (result) send({ id, result });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: 'unknown method' } });
}

if (process.argv[2] !== undefined) {
  if (options.closesStderr) process.stderr.end();
  if (options.isStubborn) {
    process.on('SIGTERM', () => {});
    startChild();
    setInterval(() => {}, 1000);
  }
  lines = createInterface({ input: process.stdin }).on('line', (line) => answer(JSON.parse(line) as Message));
}
