import type { CommandInput, CommandIo } from '../../../host/cli/command.ts';
import type { Host } from '../../../host/host.ts';
import { loadConfiguration } from '../../../host/start/steps.ts';
import { problemReport } from '../report.ts';

/** The rule that a file which cannot be read breaks: what it lists is not known. */
const UNREADABLE = 'DC05';

/** Loads what a start would load beside the configuration that is named or found. False once it has printed why a module was refused. */
export async function loadModules(host: Host, { options }: CommandInput, { err }: CommandIo): Promise<boolean> {
  const file = await loadConfiguration(
    host,
    options['config'] === undefined ? host.settings.configPath : String(options['config']),
  );
  const refused = file?.problems.filter(({ rule }) => rule.startsWith('MV') || rule === UNREADABLE) ?? [];
  if (refused.length > 0) err(host.redactor.redact(problemReport(refused)));
  return refused.length === 0;
}
