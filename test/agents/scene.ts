import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { atEnd, type GatewayProcess, startGateway, stubUpstream, temporaryFolder } from '../kit/index.ts';
import { programOf, SEARCHED } from './installed.ts';
import type { Mode } from './mode.ts';
import { type Recorder, recorderBefore } from './recorder.ts';
import { type TargetName, TARGETS } from './targets.ts';
import { playing, type Seen } from './upstream.ts';
import { toolsIn } from './script.ts';

/** A run of an agent is ended after this. */
const RUN_MS = 240_000;

/** A gateway with its own key for the agent, in front of a vendor that plays a script, and empty folders. */
export interface Scene {
  readonly gateway: GatewayProcess;
  readonly recorder: Recorder;
  readonly seen: Seen;
  /** What the agent authenticates with, and the id by which rows name it. */
  readonly key: string;
  readonly keyId: string;
  readonly home: string;
  readonly work: string;
}

export const LOGGED = ['after_request', 'on_error'].map((stage) => ({
  name: 'request-logger',
  stage,
  enabled: true,
  config: { persist: true },
}));

/** Targets and aliases for the names that an agent of this mode asks for. */
function configurationOf({ asks, asksInstead = [] }: Mode, name: TargetName): object {
  const { model } = TARGETS[name];
  const asked = [asks, ...asksInstead].filter((each) => each !== model);
  return {
    targets: [{ virtual_key: name, models: [model] }],
    aliases: Object.fromEntries(asked.map((each) => [each, model])),
    responses: { translate: 'auto' },
  };
}

/** Everything that an agent of this mode needs for its task through this target, with these plugins. */
export async function sceneOf(
  mode: Mode,
  name: TargetName,
  plugins: readonly object[],
  configuration = configurationOf(mode, name),
): Promise<Scene> {
  const seen: Seen = { turns: [], refusals: [], bodies: [] };
  const upstream = await stubUpstream(playing(name, (text) => mode.turns(toolsIn(text)), seen));
  return sceneBefore({
    seen,
    configuration: { ...configuration, plugins: [...plugins, ...LOGGED] },
    variables: TARGETS[name].variables(upstream.url),
  });
}

interface Setting {
  readonly seen: Seen;
  readonly configuration: object;
  /** What leads the gateway to the vendors. */
  readonly variables: Readonly<Record<string, string>>;
}

/** A gateway of this configuration as a process, with a key for an agent and folders for its work. */
export async function sceneBefore({ seen, configuration, variables }: Setting): Promise<Scene> {
  const folder = await temporaryFolder();
  const [home, work, config] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'config.json')];
  await mkdir(home);
  await mkdir(work);
  await writeFile(config, JSON.stringify(configuration));
  const gateway = await startGateway({
    cwd: folder,
    variables: { GATEWAY_CONFIG: config, REQUEST_LOG_STORE_BACKEND: 'sqlite', ...variables },
  });
  const { id, key } = (await (
    await fetch(`${gateway.url}/admin/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'the agent', scopes: ['read_only'] }),
    })
  ).json()) as { readonly id: string; readonly key: string };
  return { gateway, recorder: await recorderBefore(gateway.url), seen, key, keyId: id, home, work };
}

/** What an agent printed, and how it ended. */
export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** What keeps an agent from the network: no telemetry, and a registry that is not there for one that installs at its start. */
const OFFLINE = {
  DO_NOT_TRACK: '1',
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_fetch_retries: '0',
  npm_config_update_notifier: 'false',
};

/** Runs an agent to its end, in its folder. */
export async function runAgent(alias: string, mode: Mode, scene: Scene): Promise<Run> {
  await mode.prepare?.(scene);
  const [program, ...first] = programOf(alias);
  const child = spawn(program, [...first, ...mode.args(scene)], {
    cwd: scene.work,
    env: { PATH: SEARCHED, HOME: scene.home, ...OFFLINE, ...mode.variables(scene) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const end = (): boolean => child.kill('SIGKILL');
  atEnd(() => {
    end();
  });
  const timer = setTimeout(end, RUN_MS);
  const printed = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    printed.stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, ...printed };
}

/** The rows of the request log, oldest first. */
export async function rowsOf({ gateway }: Scene): Promise<readonly Record<string, any>[]> {
  const answer = await fetch(`${gateway.url}/admin/logs?limit=100`, {
    headers: { authorization: `Bearer ${gateway.key}` },
  });
  return ((await answer.json()) as { data: Record<string, any>[] }).data.toReversed();
}
