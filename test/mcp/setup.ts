import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type Answer,
  ask,
  chatReply,
  eventually,
  replyJson,
  type SeenRequest,
  startHost,
  type StubHandler,
  stubUpstream,
  type StubUpstream,
  type TestHost,
  type TestHostOptions,
} from '../kit/index.ts';
import type { ServerConnection } from '../../builtins/mcp/connection.ts';
import { canonicalJson } from '../../host/config/canonical.ts';
import type { ToolServerState } from '../../host/pipeline/tool-servers.ts';
import type { StubOptions } from './stub-server.ts';

export const CHAT = '/v1/chat/completions';

const STUB = fileURLToPath(new URL('stub-server.ts', import.meta.url));

/** The block of a stub server on standard streams. */
export function stdio(name: string, options: StubOptions = {}, more: object = {}): Record<string, unknown> {
  return { name, command: process.execPath, args: [STUB, JSON.stringify(options)], ...more };
}

/** One call that a model makes: a tool's name, its arguments, its id. */
export type Call = readonly [name: string, args?: unknown, id?: string];

/** A model's answer that calls tools. */
export function calling(calls: readonly Call[], more: object = {}): object {
  const tool_calls = calls.map(([name, args = {}, id], at) => ({
    id: id ?? `call_${at}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }));
  return chatReply('', {
    choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls }, finish_reason: 'tool_calls' }],
    ...more,
  });
}

/** One turn of a scripted model: its whole answer, or how it makes one. */
export type Turn = object | StubHandler;

export interface Setup {
  readonly t: TestHost;
  readonly upstream: StubUpstream;
  /** The bodies of the turns so far. */
  readonly sent: () => any[];
  /** The messages of a turn, the last one unless said. */
  readonly messages: (turn?: number) => any[];
  readonly servers: () => readonly ToolServerState[];
  /** Those of the configuration that serves, in its order. */
  readonly connections: () => readonly ServerConnection[];
  /** Waits until these servers are ready; all unless said. */
  readonly ready: (...names: string[]) => Promise<void>;
  readonly chat: (more?: object) => Promise<Answer>;
}

export interface SetupOptions extends TestHostOptions {
  readonly turns?: readonly Turn[];
  readonly config?: object;
  readonly target?: object;
  readonly waits?: boolean;
}

/** A gateway with tool servers and a model that answers as scripted, its last answer for ever; ready unless `waits` is false. */
export async function setUp(
  servers: readonly object[],
  { turns = [chatReply('done')], config = {}, target = {}, waits = true, ...options }: SetupOptions = {},
): Promise<Setup> {
  let turn = 0;
  const upstream = await stubUpstream((request: SeenRequest, response) => {
    const next = turns[Math.min(turn, turns.length - 1)]!;
    turn += 1;
    if (typeof next === 'function') return (next as StubHandler)(request, response);
    replyJson(response, 200, next);
  });
  const t = await startHost(
    { strategy: { mode: 'single' }, targets: [upstream.target('a', target)], mcp_servers: servers, ...config },
    options,
  );
  const states = (): readonly ToolServerState[] => t.host.current?.hooks.toolServers.call()?.servers() ?? [];
  const sent = (): any[] => upstream.seen.map((request) => request.json());
  const setup: Setup = {
    t,
    upstream,
    sent,
    messages: (at = -1) => sent().at(at).messages,
    servers: states,
    connections: () => {
      const view = t.host.carryover.open();
      const found = (t.host.current?.config.mcp_servers ?? []).map((server) =>
        view.lease(`mcp server ${canonicalJson(server)}`, (): ServerConnection => {
          throw new Error(`no connection: ${server.name}`);
        }),
      );
      void view.release();
      return found;
    },
    ready: async (...names) => {
      const isReady = ({ name, ready }: ToolServerState): boolean =>
        ready || (names.length > 0 && !names.includes(name));
      await eventually(() => states().every(isReady), 20_000);
      const late = states().filter((state) => !isReady(state));
      if (late.length > 0) throw new Error(`not ready: ${JSON.stringify(late)}`);
    },
    chat: (more = {}) => t.post(CHAT, ask('hi', more)),
  };
  if (waits) await setup.ready();
  return setup;
}

/** What the model reads of the calls of a turn. */
export const toolContents = (messages: readonly any[]): string[] =>
  messages.filter(({ role }) => role === 'tool').map(({ content }) => content as string);

/** Whether a process lives, as Linux says it; a child that has ended and waits to be collected does not. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
