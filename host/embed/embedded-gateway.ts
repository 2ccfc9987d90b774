import { resolve } from 'node:path';
import type { BuiltinModule } from '../builtin.ts';
import { systemClock } from '../common/clock.ts';
import { decodeText } from '../config/decode.ts';
import type { LoadedFile } from '../config/load.ts';
import { ConfigRefused } from '../config/problems.ts';
import type { ConfigWatch } from '../config/watch.ts';
import { createHost } from '../create-host.ts';
import { readBuildInfo } from '../environment/build-info.ts';
import type { Variables } from '../environment/variables.ts';
import { explain } from '../explain/explain.ts';
import { readQuestion } from '../explain/question.ts';
import { unroutable } from '../start/readiness.ts';
import type { Host } from '../host.ts';
import { createApp } from '../http/app.ts';
import { ForeignConnections } from '../http/connections/foreign-connections.ts';
import { redactedCopy } from '../log/redacted-copy.ts';
import type { GatewayModule } from '../registry/registry.ts';
import { registerResolveHook } from '../registry/resolve-hook.ts';
import { drainHost } from '../start/drain-host.ts';
import { prepareHost, tellStarted } from '../start/prepare-host.ts';
import { loadDocument, loadFileAt, StartRefused } from '../start/steps.ts';
import { watchConfiguration } from '../start/watch-configuration.ts';
import { secretVariables, withVariableFiles } from '../upstream/secrets/variable-files.ts';
import { doorOf } from './door.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';
import { ownVariables } from './own-variables.ts';
import { unreadBodies } from './unread-bodies.ts';

/** Where modules come from that are handed over by the server's own code. */
const GIVEN = 'createGateway';

/** What an embedded gateway takes from its surroundings. */
export interface Surroundings {
  readonly variables: Variables;
  readonly workingDirectory: string;
  readonly installDirectory: string;
  readonly modules: readonly GatewayModule[];
  readonly builtins: readonly BuiltinModule[];
}

/** Brings a gateway up that listens nowhere. On any failure everything is closed again. */
export async function embedGateway(options: GatewayOptions, surroundings: Surroundings): Promise<Gateway> {
  const { config, modules = [] } = options;
  const { kept: own, ignored } = ownVariables(surroundings.variables, typeof config === 'string');
  const kept = await withVariableFiles(own, {
    workingDirectory: surroundings.workingDirectory,
    providerSecrets: async () => secretVariables(surroundings.modules),
  });
  registerResolveHook();
  const host = makeHost(options, { ...surroundings, variables: kept });
  if (ignored.length > 0)
    host.log.warn('these variables have no effect on a gateway in a server of yours', {
      variables: ignored.join(', '),
    });
  try {
    await prepareHost(host, {
      load: () => {
        takeModules(host, modules);
        return loadGiven(host, config);
      },
      provideKey: () => needCredential(host),
    });
    await host.stores.keys.ping().catch(() => undefined); // readiness asks until it has answered once
    const watch = await watchConfiguration(host);
    return gatewayOf(host, options, watch);
  } catch (error) {
    await host.close();
    throw error;
  }
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

function makeHost({ log }: GatewayOptions, surroundings: Surroundings): Host {
  const write = log ?? printLine;
  const { builtins, installDirectory } = surroundings;
  return createHost({
    ...surroundings,
    build: readBuildInfo(installDirectory),
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock: systemClock,
    random: Math.random,
    lines: { write: (line) => write(line.trimEnd()) },
    builtins: [unreadBodies, ...builtins],
    connections: new ForeignConnections(),
  });
}

function takeModules({ registry }: Host, modules: readonly GatewayModule[]): void {
  const problems = modules.flatMap((module) => registry.add({ value: module, kind: module.kind, origin: GIVEN }));
  if (problems.length > 0) throw new ConfigRefused(problems);
}

function loadGiven(host: Host, config: GatewayOptions['config']): Promise<LoadedFile | undefined> {
  if (typeof config === 'object') return loadDocument(host, config);
  return loadFileAt(host, config === undefined ? undefined : resolve(host.workingDirectory, config));
}

/** A key that is made up would be known to those alone who read the log. */
function needCredential({ masterKey, settings }: Host): void {
  if (masterKey === undefined && settings.keyStore.backend === 'memory' && !settings.allowUnauthenticated)
    throw new StartRefused('a gateway needs MASTER_KEY, a key store, or ALLOW_UNAUTHENTICATED_PROXY');
}

function gatewayOf(host: Host, options: GatewayOptions, watch: ConfigWatch | undefined): Gateway {
  const { planes = ['data'] } = options;
  const { handler, upgrade } = doorOf(createApp(host), options);
  let draining: Promise<void> | undefined;
  tellStarted(host, { planes: planes.join(', ') });
  return {
    handler,
    upgrade,
    fetchModels: async () => (await host.hooks.modelList.call()) ?? [],
    apply: async (document) => {
      await host.applier.apply(decodeText(JSON.stringify(document), 'json'), { actor: GIVEN });
    },
    explain: (request, surface = 'chat') => explained(host, request, surface),
    get isReady() {
      return isReady(host);
    },
    drain: (ms = host.settings.shutdownTimeoutMs) => (draining ??= end(host, watch, ms)),
  };
}

function explained({ current, services, registry, redactor }: Host, request: object, surface: string): object {
  if (!current) throw new Error('the gateway has ended');
  return redactedCopy(explain(current, readQuestion(surface, request, {}), { services, registry }), redactor);
}

function isReady({ isLeaving, isDraining, current, stores }: Host): boolean {
  if (isLeaving || isDraining || !current || !stores.keys.link.hasAnswered) return false;
  return unroutable(current) === undefined;
}

async function end(host: Host, watch: ConfigWatch | undefined, timeoutMs: number): Promise<void> {
  await drainHost(host, { delayMs: 0, timeoutMs });
  host.applier.close();
  await watch?.stop();
  await host.close();
  host.log.info('gw stopped');
}
