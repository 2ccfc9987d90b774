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
  /** Knows requests of the common wire alone. */
  readonly isCommonOnly?: true;
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
}

/** What every subject needs to come up. */
export interface Bench {
  readonly workspace: Workspace;
  readonly machine: Machine;
  /** The gateway's target has retries, a circuit breaker and a concurrency limit. */
  readonly isResilient: boolean;
}

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

/** This project's gateway in `folder`, started by `bin` in it, with a master key, guardrails before and after, a token ceiling and attribution headers. */
export function gateway({ workspace, machine, isResilient }: Bench, name: string, folder: string, bin = 'host/gw.js'): Subject {
  const cwd = join(workspace.folder, `run-${name}`);
  mkdirSync(cwd);
  const configFile = join(cwd, 'config.yaml');
  writeFileSync(configFile, configuration(isResilient));
  return {
    name,
    start: async (upstreamUrl) => {
      const port = await freePort();
      const variables = {
        PORT: String(port), MASTER_KEY, RATE_LIMIT_RPS: '0', GATEWAY_CONFIG: configFile,
        OPENAI_API_KEY: 'sk-benchbenchbenchbench', OPENAI_BASE_URL: upstreamUrl, ANTHROPIC_API_KEY: 'sk-ant-benchbenchbench', ANTHROPIC_BASE_URL: upstreamUrl, NODE_COMPILE_CACHE: join(cwd, 'compile-cache'),
      };
      const startedAt = performance.now();
      const child = workspace.start([...machine.pin, process.execPath, join(folder, bin), 'serve'], { cwd, variables });
      await untilReady(name, child, () => answers(`http://127.0.0.1:${port}/livez`));
      return running(child, { name, port, startedAt, headers: { authorization: `Bearer ${MASTER_KEY}` } });
    },
  };
}

const RESILIENCE = ', retry: {attempts: 3}, circuit_breaker: {failure_threshold: 5}, concurrency: {max_concurrency: 1000}';

const configuration = (isResilient: boolean): string => `strategy: {mode: fallback}
targets:
  - {virtual_key: openai, models: [${MODEL}]${isResilient ? RESILIENCE : ''}}
  - {virtual_key: anthropic, models: [${CLAUDE}]${isResilient ? RESILIENCE : ''}}
plugins:
  - {name: word-filter, stage: before_request, enabled: true, config: {blocked_words: [forbidden, secretword, badthing]}}
  - {name: word-filter, stage: after_request, enabled: true, config: {blocked_words: [forbidden, secretword, badthing]}}
  - {name: max-token, stage: before_request, enabled: true, config: {max_tokens: 4096}}
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
    name, pid: child.pid, readyMs: performance.now() - startedAt, stop: child.stop,
    baseUrl: `http://127.0.0.1:${port}/v1`, headers: { 'content-type': 'application/json', ...headers },
  };
}
