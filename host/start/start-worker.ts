import { decodeStored } from '../config/decode.ts';
import { loadConfigFile } from '../config/load.ts';
import { ConfigRefused, problemLine } from '../config/problems.ts';
import { errorMessage } from '../common/error-message.ts';
import type { Fields } from '../contract/index.ts';
import type { InForce, Staged } from '../common/companions.ts';
import type { Host } from '../host.ts';
import { checkControlSocket } from '../workers/control-socket.ts';
import { TOPIC, type WorkerTeam } from '../workers/team.ts';
import { CONFIG_TOPIC, type GivenConfiguration, IDENTITY_TOPIC } from '../workers/worker-configurations.ts';
import { type Listeners, openListeners } from './open-listeners.ts';
import { shutDown } from './start-gateway.ts';
import { connectProviders, loadFile, loadStoredModules } from './steps.ts';

export interface RunningWorker {
  /** Finishes what runs, and closes. `isReplaced`: another worker serves new connections by now. */
  stop(isReplaced: boolean): Promise<void>;
}

/** Brings a worker up: modules, stores and configuration are the primary's. It listens once it serves what the primary does. */
export async function startWorker(host: Host, team: WorkerTeam): Promise<RunningWorker> {
  try {
    const file = await loadFile(host, host.settings.configPath);
    if (file) host.identity.take(file, file.path);
    host.masterKey = team.given.masterKey ?? host.settings.masterKey;
    await host.hooks.open.promise(host);
    const taken = await loadStoredModules(host, file);
    await connectProviders(host, taken);
    team.channel.on(IDENTITY_TOPIC, () => lookAtIdentity(host, file?.path));
    await applyGiven(host, team);
    const listeners = await openWorkerListeners(host, team);
    await team.channel.ask(TOPIC.ready);
    return { stop: (isReplaced) => stop(host, listeners, isReplaced) };
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function stop(host: Host, listeners: Listeners, isReplaced: boolean): Promise<void> {
  if (isReplaced) listeners.stopListening();
  await shutDown(host, { listeners });
}

async function openWorkerListeners(host: Host, { given: { socketPath } }: WorkerTeam): Promise<Listeners> {
  const { createControlProxy } = await import('../workers/control-proxy.ts');
  const forward = createControlProxy({ host, socketPath, check: () => checkControlSocket(socketPath) });
  return openListeners(host, { which: 'data', isShared: true, forward });
}

/** Who may come in stands in the file, which has changed. */
async function lookAtIdentity({ identity }: Host, path: string | undefined): Promise<void> {
  if (path !== undefined) identity.take(await loadConfigFile(path), path);
}

const decoded = (document: Fields): ReturnType<typeof decodeStored> => decodeStored(JSON.stringify(document));

/** Builds what is in force, and what came into force meanwhile, until the primary counts this worker among those that hear of the next one. */
async function applyGiven(host: Host, { channel }: WorkerTeam): Promise<void> {
  const { applier } = host;
  let given = await channel.ask<GivenConfiguration>(CONFIG_TOPIC.current);
  const { document, version, mark, isDefault } = given;
  await applier.applyStart({
    own: decoded(document),
    isDefault,
    stored: undefined,
    newest: { version, mark, text: undefined },
  });
  followPrimary(host, channel);
  for (;;) {
    const newer = await channel.ask<GivenConfiguration | undefined>(CONFIG_TOPIC.join, given.serial);
    if (!newer) return;
    given = newer;
    await (await applier.stage(decoded(newer.document))).commit(newer);
  }
}

function followPrimary({ applier }: Host, channel: WorkerTeam['channel']): void {
  let staged: Staged | undefined;
  channel.on(CONFIG_TOPIC.prepare, async (value) => {
    const { document } = value as { readonly document: Fields };
    staged = await applier.stage(decoded(document)).catch((error: unknown) => {
      throw error instanceof ConfigRefused ? new Error(error.problems.map(problemLine).join('; ')) : error;
    });
  });
  channel.on(CONFIG_TOPIC.commit, async (value) => {
    const inForce = value as InForce;
    await staged?.commit(inForce);
    staged = undefined;
  });
  channel.on(CONFIG_TOPIC.abort, () => {
    staged?.abort();
    staged = undefined;
  });
  channel.on(CONFIG_TOPIC.take, async (value) => {
    const inForce = value as InForce;
    await (await applier.stage(decoded(inForce.document))).commit(inForce);
  });
}

/** Why a worker does not start, for the primary. */
export const refusalText = (error: unknown): string =>
  error instanceof ConfigRefused ? error.problems.map(problemLine).join('; ') : errorMessage(error);
