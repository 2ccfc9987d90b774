import type { IncomingMessage } from 'node:http';
import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import { GatewayError } from '../../../host/contract/index.ts';
import type { Host } from '../../../host/host.ts';
import { type JsonAnswer, type JsonCall, type JsonRoute, mountJson } from '../../../host/http/json-route.ts';
import type { Seat } from '../../../host/workers/team.ts';
import { type AskedProfile, type FileProfile, profileOf, takeProfile } from './asked-profile.ts';
import type { Profiler } from './profiler.ts';

const PREFIX = '/debug/pprof/';
const DEFAULT_SECONDS = 30;
const MOST_SECONDS = 300;
const MOST_SYMBOL_BYTES = 64 * 1024;

/** Variables of the running process, and with `ENABLE_PPROF` its profiles. See docs/reference/server.md#debugging. */
export default defineBuiltin({
  name: 'debug',
  apply: ({ hooks }) => {
    let profiler: Profiler | undefined;
    hooks.protect.tap('debug', (protection) => protection.add({ prefix: '/debug/', scope: 'admin', hasPages: false }));
    hooks.open.tapPromise('debug', async (host) => {
      const { settings, team } = host;
      if (team?.role === 'worker') {
        team.channel.on(VARIABLES, () => variables(host));
        team.channel.on(PROFILE, (asked) => profileOf(profiler, asked as AskedProfile, host));
      }
      if (settings.hasPprof) profiler = await (await import('./profiler.ts')).Profiler.open();
    });
    hooks.close.tapPromise('debug', async () => profiler?.close());
    hooks.mount.tap({ name: 'debug', stage: ORDER.probes }, (router, host) => {
      mountJson(router, host, [
        { ...READ, path: '/debug/vars', answer: async () => ({ status: 200, body: await variablesOfAll(host) }) },
      ]);
      if (host.settings.hasPprof)
        mountJson(
          router,
          host,
          profileRoutes(host, () => profiler),
        );
    });
  },
});

const READ = { method: 'GET', scope: 'admin', headers: ['Cache-Control', 'no-store'] } as const;

/** What a worker is asked for. */
const VARIABLES = 'debug.variables';
const PROFILE = 'debug.profile';
/** Milliseconds that workers have to say what they hold. */
const VARIABLES_MS = 1000;

/** Those of the primary, and an entry for each worker, where there are some. */
async function variablesOfAll(host: Host): Promise<object> {
  const own = variables(host);
  if (host.team?.role !== 'primary') return own;
  const answers = await host.team.askAll<object>(VARIABLES, { limitMs: VARIABLES_MS });
  const workers = [...answers].flatMap(([{ number: worker }, said]) =>
    said instanceof Error ? [] : [{ worker, ...said }],
  );
  return { ...own, workers };
}

/** What runs, on what, and how much it holds. Bytes, and seconds of the CPU and of the clock. */
function variables({ argv, redactor, build, activity, connections, slot }: Host): object {
  const { user, system } = process.cpuUsage();
  return {
    cmdline: argv.map((argument) => redactor.redact(argument)),
    memstats: { ...process.memoryUsage(), ...getHeapStatistics(), heap_spaces: getHeapSpaceStatistics() },
    version: build.version,
    commit: build.commit,
    pid: process.pid,
    node: process.versions.node,
    v8: process.versions.v8,
    uptime_seconds: process.uptime(),
    cpu: { user_seconds: user / 1e6, system_seconds: system / 1e6 },
    resources: Object.fromEntries(
      Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind)
        .entries()
        .map(([kind, all]) => [kind, all.length]),
    ),
    requests: activity.count,
    connections: { active: connections.active, idle: connections.idle },
    generations: slot.live,
    leases: slot.leases,
  };
}

/** The profiles by name, with what they are. */
const PROFILES: Readonly<Record<string, string>> = {
  cmdline: 'the command line, its parts separated by zero bytes',
  cpuprofile: 'where the CPU time goes for ?seconds=n, for DevTools: the .cpuprofile of V8',
  eventloop: 'how busy and how late the event loop is',
  heap: 'what is on the heap by the place that made it, for go tool pprof',
  profile: 'where the CPU time goes for ?seconds=n (30 unless said), for go tool pprof',
  symbol: 'nothing: profiles hold the names of their functions',
};

function profileRoutes(host: Host, profilerOf: () => Profiler | undefined): JsonRoute[] {
  const {
    argv,
    redactor,
    services: { clock },
  } = host;
  const opened = (): Profiler => {
    const profiler = profilerOf();
    if (!profiler) throw new Error('the profiler is not open');
    return profiler;
  };
  const text = (type: string, body: string): JsonAnswer => ({ status: 200, content: { type, body } });
  const file = (name: string, body: Buffer): JsonAnswer => ({
    status: 200,
    content: { type: 'application/octet-stream', body },
    headers: ['Content-Disposition', `attachment; filename="${name}"`],
  });
  const wait = ({ request }: JsonCall): (() => Promise<void>) => {
    const ms = secondsOf(request) * 1000;
    return () => untilLeft(request, ms, clock);
  };
  const profiled = async (name: FileProfile, call: JsonCall): Promise<JsonAnswer> => {
    const seat = workerAsked(host, call.request);
    const asked = { name, seconds: name === 'heap' ? 0 : secondsOf(call.request) };
    const bytes = seat
      ? Buffer.from((await askProfile(seat, asked)) as Uint8Array)
      : await takeProfile(opened(), name, { until: wait(call), now: clock.now });
    return file(name === 'cpuprofile' ? 'gw.cpuprofile' : name, bytes);
  };
  const noSymbols = (): JsonAnswer => text('text/plain; charset=utf-8', 'num_symbols: 0\n');
  const routes: Readonly<Record<string, JsonRoute['answer']>> = {
    '': () => text('text/html; charset=utf-8', indexPage()),
    cmdline: () => text('text/plain; charset=utf-8', argv.map((argument) => redactor.redact(argument)).join('\0')),
    cpuprofile: (call) => profiled('cpuprofile', call),
    eventloop: async (call) => {
      const seat = workerAsked(host, call.request);
      return {
        status: 200,
        body: seat ? await askProfile(seat, { name: 'eventloop', seconds: 0 }) : opened().eventLoop(),
      };
    },
    heap: (call) => profiled('heap', call),
    profile: (call) => profiled('profile', call),
    symbol: noSymbols,
  };
  const posted: JsonRoute = {
    ...READ,
    method: 'POST',
    path: `${PREFIX}symbol`,
    maxBytes: () => MOST_SYMBOL_BYTES,
    answer: noSymbols,
  };
  return [...Object.entries(routes).map(([name, answer]) => ({ ...READ, path: `${PREFIX}${name}`, answer })), posted];
}

function indexPage(): string {
  const items = Object.entries(PROFILES).map(
    ([name, what]) => `<li><a href="${PREFIX}${name}">${name}</a>: ${what}</li>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>/debug/pprof/</title></head><body><h1>/debug/pprof/</h1><ul>${items.join('')}</ul></body></html>`;
}

function secondsOf({ url = '' }: IncomingMessage): number {
  const written = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('seconds');
  if (written === null) return DEFAULT_SECONDS;
  const seconds = Number(written);
  if (written.trim() !== '' && seconds > 0 && seconds <= MOST_SECONDS) return seconds;
  throw new GatewayError('invalid_request', `seconds must be a number above 0 and at most ${MOST_SECONDS}`);
}

/** Waits, but no longer than the client does. */
async function untilLeft({ socket }: IncomingMessage, ms: number, clock: Host['services']['clock']): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = clock.timer(ms, resolve);
  socket.once('close', resolve);
  await promise;
  timer.cancel();
  socket.off('close', resolve);
}

/** The worker that a profile is asked of, the first unless `worker` says otherwise; `undefined`: this process. */
function workerAsked({ team }: Host, { url = '' }: IncomingMessage): Seat | undefined {
  if (team?.role !== 'primary') return undefined;
  const word = new URLSearchParams(url.slice(url.indexOf('?') + 1)).get('worker') ?? '1';
  if (word === 'primary') return undefined;
  const seat = team.seats.find(({ number }) => String(number) === word);
  if (!seat) throw new GatewayError('invalid_request', `worker must be primary, or the number of a worker that lives`);
  return seat;
}

const askProfile = (seat: Seat, asked: AskedProfile): Promise<unknown> => seat.channel.ask(PROFILE, asked);
