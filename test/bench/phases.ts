/** Starts the gateway of this checkout step by step, reloads its configuration, and prints what each step took, as JSON. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { PhaseRow } from './starts.ts';

const bootMs = performance.now();
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
const rows: PhaseRow[] = [{ phase: 'Node itself', wallMs: bootMs, cpuMs: cpuMs() }];

async function phase<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  const [wall, cpu] = [performance.now(), cpuMs()];
  const result = await work();
  rows.push({ phase: name, wallMs: performance.now() - wall, cpuMs: cpuMs() - cpu });
  return result;
}

// As gw.js does.
for (const name of ['allocation-site-pretenuring', 'incremental-marking', 'maglev', 'turbofan'])
  setFlagsFromString(`--no-${name}`);
const { resolveOwnFiles } = await import('../../host/own-files.ts');
const ownFiles = resolveOwnFiles();
const [
  { BUILTINS, MODULES },
  { createHost },
  { systemClock },
  { discover },
  { loadConfigFile },
  { SHIPPED },
  start,
  { applyStartConfiguration },
  { createApp },
  { createHttpServer, listen },
] = await phase('imports', () =>
  Promise.all([
    import('../../builtins/manifest.ts'),
    import('../../host/create-host.ts'),
    import('../../host/common/clock.ts'),
    import('../../host/registry/discover.ts'),
    import('../../host/config/load.ts'),
    import('../../host/registry/registry.ts'),
    import('../../host/start/steps.ts'),
    import('../../host/start/configuration.ts'),
    import('../../host/http/app.ts'),
    import('../../host/http/server.ts'),
    import('../../host/main.ts'),
    import('../../builtins/cli/serve.ts'),
  ]),
);
ownFiles.deregister();

const PROJECT = join(import.meta.dirname, '../..');
const configFile = join(process.cwd(), 'phases.yaml');
writeFileSync(
  configFile,
  `strategy: {mode: fallback}
targets: [{virtual_key: echo}]
plugins:
  - {name: word-filter, stage: before_request, enabled: true, config: {blocked_words: [forbidden]}}
  - {name: max-token, stage: before_request, enabled: true, config: {max_tokens: 4096}}
`,
);

const host = await phase('hooks and builtins', () =>
  createHost({
    variables: { MASTER_KEY: `gw_${'0'.repeat(32)}`, PORT: '0' },
    workingDirectory: process.cwd(),
    installDirectory: PROJECT,
    build: { version: 'dev', commit: 'none', built: 'unknown' },
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock: systemClock,
    random: Math.random,
    lines: { write: () => {} },
    modules: [],
    builtins: BUILTINS,
  }),
);
await phase('checks of the shipped modules', () => {
  for (const module of MODULES) host.registry.add({ value: module, kind: module.kind, origin: SHIPPED });
});
const file = await phase('reading the configuration', () => loadConfigFile(configFile));
await phase('discovery of modules', () =>
  discover({
    folders: [PROJECT, process.cwd()],
    packages: [],
    packagesFrom: process.cwd(),
    isShipped: (kind, name, folder) => folder === PROJECT && host.registry.originOf(kind, name) === SHIPPED,
    loading: (_module, load) => load(),
  }),
);
host.registry.seal();
await phase('rules of the configuration', () => start.refuseProblems(host, file));
await phase('providers and catalog', async () => {
  await start.connectProviders(host);
  await host.hooks.open.promise(host);
});
await phase('building the configuration', () => applyStartConfiguration(host, file));
const server = await phase('listening', async () => {
  const made = createHttpServer(createApp(host), host);
  await listen(made, '0');
  return made;
});
const again = await phase('reload: reading', () => loadConfigFile(configFile));
await phase('reload: rules and building', () => host.applier.apply(again, { actor: 'bench' }));

process.stdout.write(JSON.stringify(rows));
server.close();
await host.close();
