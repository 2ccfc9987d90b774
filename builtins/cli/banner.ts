import type { ProviderModule } from '../../host/contract/index.ts';
import type { Host } from '../../host/host.ts';
import { configSource } from '../../host/generation/config-source.ts';
import { registeredNames } from '../../host/generation/registered-names.ts';
import type { Target } from '../../host/pipeline/target.ts';
import type { RunningGateway } from '../../host/start/start-gateway.ts';
import { missingVariables } from '../../host/upstream/connect.ts';

/** Names of providers that a newcomer looks for first, in their order; shown whether or not they have a credential. */
export const wellKnown = (modules: Iterable<ProviderModule>): readonly string[] =>
  [...modules]
    .filter(({ bannerPlace }) => bannerPlace !== undefined)
    .toSorted((a, b) => (a.bannerPlace ?? 0) - (b.bannerPlace ?? 0))
    .map(({ name }) => name);

/** What a person needs in the first minute, on stderr: where it listens, the key if it is new, and a line to paste. */
export function banner(host: Host, { port, adminPort = port, hasNewKey }: RunningGateway): string {
  const { tls } = host.settings.listeners;
  const address = `${schemeOf(tls.data)}://localhost:${port}`;
  const page = adminPort === port ? address : `${schemeOf(tls.admin)}://localhost:${adminPort}`;
  const config = host.current?.config;
  const plugins = config?.plugins.filter(({ enabled }) => enabled).length ?? 0;
  const lines = [
    `gw ${host.build.version}`,
    '',
    ...providerLines(host),
    `  ${registeredNames(host).size} providers | strategy ${config?.strategy.mode ?? ''} | ${plugins} plugins${declaredText(host)}`,
    `  configuration: ${sourceText(host)}`,
    ...memoryLines(host),
    '',
    `  Address:    ${address}`,
    `  Dashboard:  ${page}/  (in a browser; sign in with a key)`,
    ...keyLines(host, hasNewKey),
    ...curlLines(host, address, hasNewKey),
    '',
  ];
  return `${lines.join('\n')}\n`;
}

const schemeOf = (tls: object | undefined): string => (tls ? 'https' : 'http');

/** Entries of `providers` and of `models`, where there are any. */
function declaredText({ current }: Host): string {
  const instances = current?.instances.size ?? 0;
  const groups = current?.groups?.list.length ?? 0;
  return `${instances > 0 ? ` | ${counted(instances, 'instance')}` : ''}${groups > 0 ? ` | ${counted(groups, 'group')}` : ''}`;
}

const counted = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

function sourceText(host: Host): string {
  if (configSource(host) === 'store') return `stored (${host.stores.configuration.backend})`;
  return host.configFile?.path ?? 'built-in defaults';
}

/** Warns of what is lost at a restart. */
function memoryLines({ stores: { keys, configuration } }: Host): string[] {
  const forgotten = [
    ...(keys.backend === 'memory' ? ['keys'] : []),
    ...(configuration.backend === 'memory' ? ['configuration'] : []),
  ];
  return forgotten.length > 0 ? [`  in memory only: ${forgotten.join(' and ')}`] : [];
}

function providerLines(host: Host): string[] {
  const registered = registeredNames(host);
  const known = wellKnown(host.registry.providers.values());
  const declared = host.current?.instances;
  const others = [...registered, ...(declared?.keys() ?? [])].filter((name) => !known.includes(name));
  return [...new Set([...known, ...others])].map((name) => {
    if (registered.has(name)) return `  [OK] ${name}`;
    if (declared?.has(name)) return `  [-] ${name} (no credential of it can be used)`;
    const module = host.registry.providers.get(name);
    return `  [-] ${name} (${module ? missingVariables(module, host.variables).join(', ') : ''} not set)`;
  });
}

function keyLines(host: Host, hasNewKey: boolean): string[] {
  if (hasNewKey) return [`  Master key: ${host.masterKey ?? ''}  (made for this run; set MASTER_KEY to keep one)`];
  return [`  Master key: ${host.masterKey === undefined ? 'not set; run "gw init" to make one' : 'from MASTER_KEY'}`];
}

/** A request that works when pasted; with the key itself only when it was made here. */
function curlLines(host: Host, address: string, hasNewKey: boolean): string[] {
  const target = host.current?.targetList.find(({ provider }) => provider);
  const model = target && (groupToTry(host) ?? modelToTry(host, target));
  if (model === undefined || host.masterKey === undefined) return [];
  const key = hasNewKey ? host.masterKey : '$MASTER_KEY';
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello, gateway!' }] });
  return [
    '',
    '  Try it:',
    `  curl ${address}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${body}'`,
  ];
}

/** The first group that clients see and that something serves. */
const groupToTry = ({ current }: Host): string | undefined =>
  current?.groups?.list.find(
    ({ matched, isListed, routes }) =>
      matched === 'exact' && isListed && [...routes.values()].some(({ provider }) => provider),
  )?.name;

/** One that the operator declared; else the cheapest chat model with tools that the catalog calls generally available; else the first one. */
function modelToTry({ current, services: { catalog } }: Host, target: Target): string | undefined {
  const { virtualKey, catalogProvider } = target;
  const [declared] = target.config.models ?? [];
  if (declared !== undefined) return declared;
  const models = current?.models.advertised(virtualKey) ?? [];
  const prices = models.flatMap((model) => {
    const entry = catalog.entry(catalogProvider, model);
    const { input, output } = catalog.tokenPrice(catalogProvider, model) ?? {};
    const isCurrent =
      entry?.mode === 'chat' && entry.lifecycle.status === 'ga' && entry.capabilities['function_calling'] === true;
    return isCurrent && input !== undefined && output !== undefined ? [{ model, price: input + output }] : [];
  });
  return prices.toSorted((a, b) => a.price - b.price)[0]?.model ?? models[0];
}
