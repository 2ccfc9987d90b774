import { type CommandIo, UsageError } from '../../../host/cli/command.ts';
import type { GatewayConfig } from '../../../host/config/document.ts';
import { checkConfig } from '../../../host/generation/check.ts';
import type { Host } from '../../../host/host.ts';
import { loadConfiguration } from '../../../host/start/steps.ts';
import { problemReport } from '../report.ts';

/** The checked configuration of `--config`; its problems are printed as `gw validate` prints them, and then there is none. */
export async function readConfig(
  host: Host,
  named: string | boolean | undefined,
  io: CommandIo,
): Promise<GatewayConfig | undefined> {
  const file = await loadConfiguration(host, typeof named === 'string' ? named : host.settings.configPath);
  if (!file) throw new UsageError('there is no configuration here; name one: --config <file>');
  const problems = checkConfig(host, file);
  if (problems.length === 0 && file.config) return file.config;
  io.err(host.redactor.redact(problemReport(problems)));
  return undefined;
}
