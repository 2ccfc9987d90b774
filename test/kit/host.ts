import { hash } from 'node:crypto';
import type { Server } from 'node:http';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { MODULES } from '../../builtins/manifest.ts';
import { Slots } from '../../builtins/resilience/slots.ts';
import type { BuiltinModule } from '../../host/builtin.ts';
import { type Clock, systemClock } from '../../host/common/clock.ts';
import { decodeText } from '../../host/config/decode.ts';
import { createHost } from '../../host/create-host.ts';
import type { Host } from '../../host/host.ts';
import { createApp } from '../../host/http/app.ts';
import { createHttpServer, listen } from '../../host/http/server.ts';
import type { GatewayModule } from '../../host/registry/registry.ts';
import { StoreClock } from '../../host/stores/replicas/store-clock.ts';
import { connectProviders } from '../../host/start/steps.ts';
import type { Labels } from '../../host/contract/index.ts';
import { TEST_BUILTINS } from './builtins.ts';
import { atEnd } from './cleanup.ts';
import { undocumented } from './documented.ts';
import { figureProblem } from './figures.ts';
import { eventually } from './holdings.ts';
import { strictly } from './strict/check.ts';
import { type StubTarget, stubProvider } from './upstream.ts';

export const MASTER_KEY = 'gw_0123456789abcdef0123456789abcdef';
/** The id of the master key (docs/reference/admin.md#the-master-key). */
export const MASTER_ID = `master-key:${hash('sha256', MASTER_KEY).slice(0, 16)}`;

export interface TestHostOptions {
  readonly variables?: Readonly<Record<string, string>>;
  /** Further modules, beside the shipped ones and those of the stub targets. */
  readonly modules?: readonly GatewayModule[];
  readonly builtins?: readonly BuiltinModule[];
  /** The time of stores on Postgres, too, unless `isOfDatabase`: theirs would pass by itself. */
  readonly clock?: Clock;
  readonly isOfDatabase?: boolean;
  readonly random?: () => number;
  readonly streamIdleMs?: number;
  /** Where the program is installed: its dashboard is one page unless said, whatever was built here, and none in `NO_DASHBOARD`. */
  readonly installDirectory?: string;
  /** Whether chat requests that a provider's vendor would refuse leave all the same; unless said they are a 400. */
  readonly isLenient?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): any;
  /** Payloads of the `data:` lines, parsed; the end marker as it is. */
  events(): any[];
}

export interface CountedSample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface TestHost {
  readonly host: Host;
  readonly url: string;
  readonly server: Server;
  /** Log lines so far, parsed. */
  readonly lines: Record<string, any>[];
  /** The log lines as they were written. */
  readonly texts: string[];
  /** Figures so far. */
  readonly samples: CountedSample[];
  /** Calls with the master key; a body that is not a string is sent as JSON. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>;
  get(path: string, headers?: Record<string, string>): Promise<Answer>;
  /** Applies another configuration; its stub targets must have been known at start. */
  apply(config: object): Promise<void>;
  close(): Promise<void>;
}

/** The time of a store whose database is not asked for it. */
class MachineTime extends StoreClock {
  override read(): void {}
}

/** The shipped modules, before vendors that refuse what the real ones refuse. */
const STRICT_MODULES: readonly GatewayModule[] = MODULES.map((module) =>
  module.kind === 'provider' ? strictly(module) : module,
);

const checkout = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const ONE_PAGE = fileURLToPath(new URL('../fixtures/dashboard', import.meta.url));
export const NO_DASHBOARD = fileURLToPath(new URL('../fixtures', import.meta.url));

/** A whole gateway in this process, on a port of its own, with the shipped modules; gone after the test. */
export async function startHost(config: object, options: TestHostOptions = {}): Promise<TestHost> {
  const lines: Record<string, any>[] = [];
  const texts: string[] = [];
  const samples: CountedSample[] = [];
  const host = createHost({
    variables: { MASTER_KEY, RATE_LIMIT_RPS: '0', STUB_API_KEY: 'stub-key', LOG_LEVEL: 'debug', ...options.variables },
    workingDirectory: checkout,
    installDirectory: options.installDirectory ?? ONE_PAGE,
    build: { version: 'test', commit: 'none', built: 'unknown' },
    argv: process.argv,
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock: options.clock ?? systemClock,
    ...(options.clock && !options.isOfDatabase && { storeClock: (machine: Clock) => new MachineTime(machine) }),
    random: options.random ?? Math.random,
    lines: {
      write: (line) => {
        texts.push(line);
        lines.push(JSON.parse(line) as Record<string, any>);
      },
    },
    modules: [...(options.isLenient ? MODULES : STRICT_MODULES), ...stubModules(config), ...(options.modules ?? [])],
    builtins: [...TEST_BUILTINS, ...(options.builtins ?? [])],
    ...(options.streamIdleMs !== undefined && { streamIdleMs: options.streamIdleMs }),
  });
  const wrongFigures: string[] = [];
  const wrongAnswers: string[] = [];
  const keep = (kind: 'counter' | 'histogram', name: string, labels: Labels, value: number): void => {
    samples.push({ name, labels, value });
    wrongFigures.push(...figureProblem(kind, name, labels));
  };
  host.counters.attach({
    add: (name, labels, by) => keep('counter', name, labels, by),
    observe: (name, value, labels) => keep('histogram', name, labels, value),
  });
  host.registry.seal();
  const apply = async (next: object): Promise<void> => {
    // As what was accepted before: references go where the test wants them. What the admin API may write is tested by requests.
    await host.applier.apply(decodeText(JSON.stringify(next), 'json'), { actor: 'test' }, 'rollback');
  };
  const own = decodeText(JSON.stringify(config), 'json');
  host.identity.take(own, undefined);
  await host.hooks.open.promise(host);
  await connectProviders(host, new Set(Object.keys((config as { providers?: object }).providers ?? {})));
  await host.applier.applyStart({ own });
  const server = createHttpServer(createApp(host), host);
  const url = `http://127.0.0.1:${await listen(server, '0')}`;
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> =>
    (closing ??= closeHost(host, server).then(() => {
      expect(wrongFigures, 'figures that are not in the table').to.deep.equal([]);
      expect(wrongAnswers, 'answers of the admin API that are not as the OpenAPI document says').to.deep.equal([]);
    }));
  atEnd(close);
  const request = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${MASTER_KEY}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && {
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
      }),
    });
    const answer = answerOf(response.status, response.headers, await response.text());
    const problem = undocumented(method, path, answer);
    if (problem !== undefined) wrongAnswers.push(problem);
    return answer;
  };
  return {
    host,
    url,
    server,
    lines,
    texts,
    samples,
    request,
    apply,
    close,
    post: (path, body, headers) => request('POST', path, body, headers),
    get: (path, headers) => request('GET', path, undefined, headers),
  };
}

/** Closes everything, and fails when something of any request or configuration is left. */
async function closeHost(host: Host, server: Server): Promise<void> {
  const slots = slotsOf(host);
  server.closeAllConnections();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  await host.close();
  await eventually(() => isDeepStrictEqual(heldBy(host, slots), NOTHING_HELD));
  expect(heldBy(host, slots), 'what the gateway holds after its end').to.deep.equal(NOTHING_HELD);
}

export const NOTHING_HELD = {
  leases: 0,
  generations: 0,
  carried: 0,
  requests: 0,
  running: 0,
  origins: 0,
  slots: 0,
  waiting: 0,
};

/** What a gateway holds for requests, configurations and connections. */
export function heldBy(
  { slot, carryover, activity, running, services }: Host,
  slots: readonly Slots[] = [],
): typeof NOTHING_HELD {
  return {
    leases: slot.leases,
    generations: slot.live,
    carried: carryover.size,
    requests: activity.count,
    running: running.size,
    origins: services.transport.origins,
    slots: slots.reduce((sum, { held }) => sum + held, 0),
    waiting: slots.reduce((sum, { waiting }) => sum + waiting, 0),
  };
}

/** The concurrency limits in force, as far as targets have one. */
export function slotsOf({ carryover, current }: Host): Slots[] {
  const view = carryover.open();
  const found = (current?.targetList ?? []).flatMap(({ virtualKey, config }) =>
    config.concurrency?.max_concurrency ? [view.lease(`limiter ${virtualKey}`, () => new Slots())] : [],
  );
  void view.release();
  return found;
}

export function answerOf(status: number, headers: Headers, text: string): Answer {
  return { status, headers, text, json: () => JSON.parse(text), events: () => eventsOf(text) };
}

/** Payloads of an event stream, without its comments. */
export function eventsOf(text: string): any[] {
  return text
    .split('\n\n')
    .filter((event) => event !== '' && !event.startsWith(':'))
    .map((event) => {
      const data = event.replace(/^data: /, '');
      return data === '[DONE]' ? data : JSON.parse(data);
    });
}

function stubModules(config: object): GatewayModule[] {
  const targets = (config as { targets?: readonly (StubTarget & { [stubProvider]?: GatewayModule })[] }).targets ?? [];
  return targets.flatMap((target) => target[stubProvider] ?? []);
}

/** A minimal chat request for model `m`. */
export function ask(content = 'hi', more: object = {}): Record<string, unknown> {
  return { model: 'm', messages: [{ role: 'user', content }], ...more };
}
