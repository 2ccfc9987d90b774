import type { CommandInput, CommandIo, RunCommand } from '../../../host/cli/command.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import type { LoadedFile } from '../../../host/config/load.ts';
import { problemLine } from '../../../host/config/problems.ts';
import { isFields } from '../../../host/contract/json/fields.ts';
import { tryParseJson } from '../../../host/contract/json/json.ts';
import { checkConfig } from '../../../host/generation/check.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { CommandPlace, Host } from '../../../host/host.ts';
import { loadConfiguration } from '../../../host/start/steps.ts';
import { hasCredentials } from '../../../host/upstream/connect.ts';
import { brokenVariables } from '../../../host/upstream/credential-values.ts';
import { wellKnown } from '../banner.ts';
import { Client, Unreachable } from '../client.ts';
import { adminPortFindings, clockFindings, fileFindings, moduleFindings, portFindings } from './doctor-checks.ts';
import { symbol } from '../show.ts';
import { healthLine } from '../status.ts';
import { tlsFindings } from './tls-findings.ts';

type Mark = (name: Parameters<typeof symbol>[0]) => string;

interface Section {
  readonly title: string;
  readonly lines: readonly string[];
}

const LEVELS = { good: 'OK', bad: 'X', warning: '!', absent: '-' } as const satisfies Record<
  Finding['level'],
  Parameters<typeof symbol>[0]
>;

/** `gw doctor`: what a start would find here, and whether a gateway answers. Only an invalid configuration is exit code 1. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => {
  const host = await place.host();
  const mark: Mark = (name) => symbol(name, io.terminal);
  const { isValid, file, ...configuration } = await configurationSection(host, mark);
  print(host, io, providerSection(host, mark, Object.keys(file?.config?.providers ?? {}).length > 0));
  print(host, io, configuration);
  print(host, io, {
    title: 'Auth',
    lines: [
      host.settings.masterKey === undefined
        ? `${mark('!')} MASTER_KEY is not set; "gw init" makes one`
        : `${mark('OK')} MASTER_KEY is set`,
    ],
  });
  const { line, answering, date } = await connectivity(input, place, mark);
  print(host, io, { title: 'Gateway Connectivity', lines: [line] });
  const add = (title: string, findings: readonly Finding[]): void =>
    print(host, io, { title, lines: findings.map(({ level, text }) => `${mark(LEVELS[level])} ${text}`) });
  const { notes } = host.settings;
  if (notes.length > 0)
    add(
      'Environment',
      notes.map(({ level, message }) => ({ level: level === 'fatal' ? 'bad' : 'warning', text: message })),
    );
  const config = isValid ? file?.config : undefined;
  if (config && (config.providers || config.models)) {
    const { examineFleet } = await import('../fleet/examine-fleet.ts');
    await examineFleet(host, config, add);
  }
  if (config) {
    const { hasMoney, moneyFindings } = await import('../money/examine-money.ts');
    if (hasMoney(config)) add('Money', await moneyFindings(host, config));
  }
  await host.hooks.examine.promise({ host, add, probed: input.options['probe'] === true ? config : undefined });
  const { address, admin, tls } = host.settings.listeners;
  if (tls.data || tls.admin) add('TLS', tlsFindings(tls, place.clock.now()));
  add('Port', [
    ...(await portFindings(host.settings.port, answering, address)),
    ...(await adminPortFindings(admin, answering)),
  ]);
  add('Clock', clockFindings(place.clock.now(), date));
  add('Modules of others', moduleFindings(host));
  add('File permissions', await fileFindings(file));
  return isValid ? 0 : 1;
};

const print = ({ redactor }: Host, { out }: CommandIo, { title, lines }: Section): void =>
  out(redactor.redact(`${title}\n${lines.map((line) => `  ${line}\n`).join('')}\n`));

/** Every provider whose credentials are set, and those that a newcomer looks for. Where instances are declared, none is needed. */
function providerSection({ registry, variables }: Host, mark: Mark, hasInstances: boolean): Section {
  const providers = [...registry.providers.values()]
    .filter(({ offline }) => !offline)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const found = providers.filter((module) => hasCredentials(module, variables)).map(({ name }) => name);
  const broken = providers.flatMap((module) =>
    brokenVariables(module, variables).map((variable) => ({ name: module.name, variable })),
  );
  const missing = wellKnown(providers).filter(
    (name) => !found.includes(name) && !broken.some((each) => each.name === name),
  );
  return {
    title: 'Provider API Keys',
    lines: [
      ...found.map((name) => `${mark('OK')} ${name}`),
      ...broken.map(
        ({ name, variable }) => `${mark('X')} ${name}: ${variable} holds a control character, it counts as unset`,
      ),
      ...missing.map((name) => `${mark('-')} ${name}`),
      found.length > 0 ? `${found.length} found` : `${mark(hasInstances ? '-' : '!')} no provider API keys detected`,
    ],
  };
}

async function configurationSection(
  host: Host,
  mark: Mark,
): Promise<Section & { readonly isValid: boolean; readonly file?: LoadedFile }> {
  const title = 'Configuration';
  const named = host.settings.configPath;
  const file = await loadConfiguration(host, named).catch((error: unknown) => errorMessage(error));
  if (file === undefined)
    return {
      title,
      isValid: true,
      lines: [`${mark('-')} GATEWAY_CONFIG is not set and no file was found, using defaults`],
    };
  if (typeof file === 'string') return { title, isValid: true, lines: [`${mark('X')} modules: ${file}`] };
  const problems = checkConfig(host, file);
  const path = named ?? file.path;
  if (problems.length > 0 || !file.config)
    return {
      title,
      isValid: false,
      file,
      lines: problems.map((problem) => `${mark('X')} ${path}: ${problemLine(problem)}`),
    };
  return {
    title,
    isValid: true,
    file,
    lines: [
      `${mark('OK')} ${path} (strategy=${file.config.strategy.mode}, targets=${file.config.targets.length})`,
      ...moduleLine(file, mark),
    ],
  };
}

function moduleLine({ config }: LoadedFile, mark: Mark): string[] {
  const modules = config?.modules ?? [];
  return modules.length === 0 ? [] : [`${mark('OK')} modules: ${modules.join(', ')}`];
}

interface Connectivity {
  readonly line: string;
  /** Address of a gateway that answered. */
  readonly answering?: string;
  readonly date?: string | undefined;
}

async function connectivity(input: CommandInput, place: CommandPlace, mark: Mark): Promise<Connectivity> {
  let url = '';
  try {
    const client = new Client(input, place);
    url = `${client.url}: `;
    const { text, ms, date } = await client.send('GET', '/health');
    const body = tryParseJson(text);
    return {
      line: healthLine(client.url, isFields(body) ? body['status'] : undefined, ms, mark),
      answering: client.url,
      date,
    };
  } catch (error) {
    return { line: `${mark('X')} ${url}${error instanceof Unreachable ? error.reason : errorMessage(error)}` };
  }
}
