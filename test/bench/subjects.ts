import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLAUDE, MODEL } from './bodies.ts';
import type { Machine } from './machine.ts';
import { answers, freePort, untilReady } from './ready.ts';
import { nextMessage, type Child, type Workspace } from './workspace.ts';

/** What is measured. */
export interface Subject {
  readonly name: string;
  /** It is asked for chats alone. */
  readonly isChatOnly?: true;
  /** Starts it in front of an upstream, and resolves when it is ready. */
  start(upstreamUrl: string): Promise<RunningSubject>;
}

export interface RunningSubject {
  readonly name: string;
  readonly pid: number;
  /** What the endpoint of a shape is appended to. */
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
  /** From its start until it listens; for the gateway, until `/livez` answers. */
  readonly readyMs: number;
  readonly stop: () => Promise<void>;
  /** Bytes that V8 has allocated since its start; only where the bench counts allocations. */
  readonly allocatedBytes: () => Promise<number>;
}

/** What every subject needs to come up. */
export interface Bench {
  readonly workspace: Workspace;
  readonly machine: Machine;
  /** The gateway's target has retries, a circuit breaker and a concurrency limit. */
  readonly isResilient: boolean;
  readonly isGuarded?: boolean;
  /** Gateways tell what they allocated. */
  readonly countsAllocations?: boolean;
}

/** What makes one gateway differ from the others. */
export interface GatewaySetup {
  /** Its program, in its folder. */
  readonly bin?: string;
  /** Put behind the configuration. */
  readonly configuration?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Keeps a request log on SQLite, as the built-in default does: a row at the end of each request. */
export const KEEPS_LOG: GatewaySetup = {
  configuration: ['after_request', 'on_error']
    .map((stage) => `  - {name: request-logger, stage: ${stage}, enabled: true, config: {persist: true}}\n`)
    .join(''),
  variables: { REQUEST_LOG_STORE_BACKEND: 'sqlite', REQUEST_LOG_STORE_DSN: 'requests.db' },
};

const MASTER_KEY = 'gw_0123456789abcdef0123456789abcdef';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

export function floor({ workspace, machine }: Bench): Subject {
  const program = fileURLToPath(new URL('floor.ts', import.meta.url));
  return {
    name: 'floor',
    start: async (upstreamUrl) => {
      const startedAt = performance.now();
      const child = workspace.start([...machine.pin, process.execPath, program, upstreamUrl], { ipc: true });
      const { port } = await nextMessage<{ port: number }>(child);
      return running(child, { name: 'floor', port, startedAt, headers: {} });
    },
  };
}

/** This project's gateway in `folder`, with a master key, guardrails before and after, a token ceiling and attribution headers. */
export function gateway(
  { workspace, machine, isResilient, isGuarded = false, countsAllocations = false }: Bench,
  name: string,
  folder: string,
  setup: GatewaySetup = {},
): Subject {
  const { bin = 'host/gw.js', configuration: more = '', variables: own = {} } = setup;
  const cwd = join(workspace.folder, `run-${name}`);
  mkdirSync(cwd);
  const configFile = join(cwd, 'config.yaml');
  writeFileSync(configFile, configuration(isResilient) + (isGuarded ? GUARDS : FILTERS) + more);
  return {
    name,
    start: async (upstreamUrl) => {
      const port = await freePort();
      const variables = {
        PORT: String(port),
        MASTER_KEY,
        RATE_LIMIT_RPS: '0',
        GATEWAY_CONFIG: configFile,
        OPENAI_API_KEY: 'sk-benchbenchbenchbench',
        OPENAI_BASE_URL: upstreamUrl,
        ANTHROPIC_API_KEY: 'sk-ant-benchbenchbench',
        ANTHROPIC_BASE_URL: upstreamUrl,
        NODE_COMPILE_CACHE: join(cwd, 'compile-cache'),
        ...own,
      };
      const startedAt = performance.now();
      const probe = countsAllocations ? ['--import', new URL('allocation-probe.ts', import.meta.url).href] : [];
      const child = workspace.start([...machine.pin, process.execPath, ...probe, join(folder, bin), 'serve'], {
        cwd,
        variables,
        ipc: countsAllocations,
      });
      await untilReady(name, child, () => answers(`http://127.0.0.1:${port}/livez`));
      return running(child, { name, port, startedAt, headers: { authorization: `Bearer ${MASTER_KEY}` } });
    },
  };
}

const RESILIENCE =
  ', retry: {attempts: 3}, circuit_breaker: {failure_threshold: 5}, concurrency: {max_concurrency: 1000}';

const configuration = (isResilient: boolean): string => `strategy: {mode: fallback}
targets:
  - {virtual_key: openai, models: [${MODEL}]${isResilient ? RESILIENCE : ''}}
  - {virtual_key: anthropic, models: [${CLAUDE}]${isResilient ? RESILIENCE : ''}}
plugins:
  - {name: max-token, stage: before_request, enabled: true, config: {max_tokens: 4096}}
`;

const FILTERS = ['before_request', 'after_request']
  .map(
    (stage) =>
      `  - {name: word-filter, stage: ${stage}, enabled: true, config: {blocked_words: [forbidden, secretword, badthing]}}\n`,
  )
  .join('');

/** Guardrails that hold the end of a text while it may be the beginning of what they look for. */
const GUARDS = `  - {name: word-filter, stage: after_request, enabled: true, config: {blocked_words: [nightfall, moonrise], stream: window}}
  - {name: pii-redact, stage: after_request, enabled: true}
`;

interface Started {
  readonly name: string;
  readonly port: number;
  readonly startedAt: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** To be called at the moment the subject is ready. */
export function running(child: Child, { name, port, startedAt, headers }: Started): RunningSubject {
  return {
    name,
    pid: child.pid,
    readyMs: performance.now() - startedAt,
    stop: child.stop,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    headers: { 'content-type': 'application/json', ...headers },
    allocatedBytes: async () => {
      const answer = nextMessage<{ allocatedBytes: number }>(child);
      child.process.send('allocated');
      return (await answer).allocatedBytes;
    },
  };
}
