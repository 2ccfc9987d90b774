import { stringify } from 'yaml';
import type { CommandIo, OutputFormat, RunCommand } from '../../host/cli/command.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { coverage, type CoverageCell, type CoverageRow } from '../../host/explain/coverage.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { checkConfig } from '../../host/generation/check.ts';
import { loadConfiguration } from '../../host/start/steps.ts';
import { fleetTables } from './fleet/fleet-tables.ts';
import { accountTables, accountWarningLines } from './money/account-table.ts';
import { problemReport, table } from './report.ts';

/** `gw validate <config-file>`: the same checks as start-up, without resolving references or contacting a provider. */
export const run: RunCommand<CommandPlace> = async ({ args, format }, io, place) =>
  validate(await place.host(), args[0] ?? '', format, io);

async function validate(host: Host, path: string, format: OutputFormat, io: CommandIo): Promise<number> {
  const file = await loadConfiguration(host, path);
  if (!file) return 1;
  const problems = checkConfig(host, file);
  if (problems.length > 0 || !file.config) {
    io.err(host.redactor.redact(problemReport(problems)));
    return 1;
  }
  const shown = withoutEmpty(file.config);
  if (format === 'json') io.out(`${JSON.stringify(shown, null, 2)}\n`);
  else if (format === 'yaml') io.out(stringify(shown));
  else io.out(host.redactor.redact(`${summary(host, file.config).join('\n')}\n`));
  return 0;
}

/** Leaves out top-level lists and maps that hold nothing. */
function withoutEmpty(config: GatewayConfig): object {
  const isEmpty = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(config).filter(([, value]) => !isEmpty(value)));
}

function summary(host: Host, config: GatewayConfig): string[] {
  const aliases = Object.keys(config.aliases).length;
  const plugins = config.plugins.map(({ name, enabled }) => `${name} (${enabled ? 'enabled' : 'disabled'})`);
  const { rows, warnings } = coverage(host, config);
  return [
    '[OK] Config is valid',
    `Strategy: ${config.strategy.mode}`,
    `Targets: ${config.targets.length}`,
    `Providers: ${config.targets.map(({ virtual_key }) => virtual_key).join(', ')}`,
    ...(plugins.length > 0 ? [`Plugins: ${plugins.join(', ')}`] : []),
    ...(aliases > 0 ? [`Aliases: ${aliases}`] : []),
    '',
    ...[...fleetTables(host, config), ...accountTables(config)].flatMap((shown) => [shown, '']),
    table(
      ['SURFACE', 'STAGE', 'READ BY'],
      rows.map((row) => [row.surface, row.stage, readers(row)]),
    ),
    ...[...warnings, ...accountWarningLines(config)].map((warning) => `warning ${warning}`),
  ];
}

function readers({ translated, ...cell }: CoverageRow): string {
  return translated ? `${readersOf(cell)}; translated: ${readersOf(translated)}` : readersOf(cell);
}

function readersOf({ plugins, refused, recorded }: CoverageCell): string {
  return refused ? 'refused' : `${plugins.join(', ') || '-'}${recorded ? ' (recorded)' : ''}`;
}
