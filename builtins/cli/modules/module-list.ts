import { stringify } from 'yaml';
import type { CommandInput, CommandIo, RunCommand } from '../../../host/cli/command.ts';
import type { CommandPlace, Host } from '../../../host/host.ts';
import { packageVersion } from '../../../host/registry/package-contract.ts';
import { type GatewayModule, SHIPPED } from '../../../host/registry/registry.ts';
import { loadConfiguration } from '../../../host/start/steps.ts';
import { problemReport, table } from '../report.ts';

/** The rule that a file which cannot be read breaks: what it lists is not known. */
const UNREADABLE = 'DC05';

/** `gw module list`: every module this gateway knows, where it comes from and its version. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => listModules(await place.host(), input, io);

interface Row {
  readonly kind: string;
  readonly name: string;
  readonly from: string;
  /** The gateway's version for a shipped module, its own for a package; a file has none. */
  readonly version: string | null;
}

async function listModules(host: Host, { options, format }: CommandInput, { out, err }: CommandIo): Promise<number> {
  const file = await loadConfiguration(
    host,
    options['config'] === undefined ? host.settings.configPath : String(options['config']),
  );
  const refused = file?.problems.filter(({ rule }) => rule.startsWith('MV') || rule === UNREADABLE) ?? [];
  if (refused.length > 0) {
    err(host.redactor.redact(problemReport(refused)));
    return 1;
  }
  const { providers, strategies, plugins } = host.registry;
  const rows = [...providers.values(), ...strategies.values(), ...plugins.values()]
    .map((module) => rowOf(host, module))
    .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.name < b.name ? -1 : 1));
  if (format === 'json') out(`${JSON.stringify(rows, undefined, 2)}\n`);
  else if (format === 'yaml') out(stringify(rows));
  else
    out(
      `${table(
        ['KIND', 'NAME', 'FROM', 'VERSION'],
        rows.map(({ kind, name, from, version }) => [kind, name, from, version ?? '-']),
      )}\n`,
    );
  return 0;
}

/** Those of others first: they are what an operator looks for. */
const rankOf = ({ kind, from }: Row): number =>
  (from === SHIPPED ? 3 : 0) + ['provider', 'strategy', 'plugin'].indexOf(kind);

function rowOf({ registry, build }: Host, { kind, name }: GatewayModule): Row {
  const from = registry.originOf(kind, name) ?? SHIPPED;
  const file = registry.fileOf(kind, name);
  const version =
    from === SHIPPED
      ? build.version
      : from.startsWith('package ') && file !== undefined
        ? packageVersion(file)
        : undefined;
  return { kind, name, from, version: version ?? null };
}
