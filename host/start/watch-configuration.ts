import { withoutIdentity } from '../config/decode.ts';
import { loadConfigFile, type LoadedFile } from '../config/load.ts';
import { ConfigRefused } from '../config/problems.ts';
import { type ConfigWatch, watchFile } from '../config/watch.ts';
import { errorMessage } from '../common/error-message.ts';
import { checkConfig } from '../generation/check.ts';
import type { Host } from '../host.ts';
import { redactedCopy } from '../log/redacted-copy.ts';
import type { Writer } from '../stores/configuration-store.ts';
import { IDENTITY_TOPIC } from '../workers/worker-configurations.ts';
import { takeIdentity } from './take-identity.ts';
import { tellConfiguration } from './configuration.ts';

/** Milliseconds that workers have to read the file. */
const LOOK_MS = 5000;

/** Who changed the configuration, when the watched file did. */
const FILE: Writer = { actor: 'file' };

/**
 * Looks after the file and applies what changes in it, as long as nothing is stored; a file with a problem changes nothing. Modules
 * are those of the start.
 */
export async function watchConfiguration(host: Host): Promise<ConfigWatch | undefined> {
  const path = host.configFile?.path;
  if (path === undefined || !host.settings.watchesConfig) return undefined;
  return watchFile(path, host.services.clock, async () => {
    try {
      await applyFile(host, path);
    } catch (error) {
      host.log.error('config file refused, the running configuration stays', { path, error });
      audit(host, 'error', { error: errorMessage(error) });
    }
  });
}

async function applyFile(host: Host, path: string): Promise<void> {
  const file = await loadConfigFile(path);
  const isOther = host.identity.isOther(file);
  const problems = isOther ? checkConfig(host, file) : [];
  if (problems.length > 0) throw new ConfigRefused(problems); // also where the rest of the file does not count
  const applied = await host.applier.applyFile(file, FILE);
  if (isOther) {
    changeIdentity(host, file);
    await spreadIdentity(host);
  }
  if (!applied) {
    if (isOther) return;
    host.log.info(
      'the config file has changed, and the running configuration stays: something else is stored, or it says the same',
      { path },
    );
    return;
  }
  host.configFile = withoutIdentity(file);
  tellConfiguration(host, { actor: FILE.actor, version: applied.entry.version });
  const { plugins, strategy, targets } = applied.generation.config;
  audit(host, 'ok', { plugins: plugins.length, strategy: strategy.mode, targets: targets.length });
}

/** Who may come in has changed, whether or not the rest of the file counts. */
function changeIdentity(host: Host, file: LoadedFile): void {
  takeIdentity(host, file);
  const issuers = host.identity.block?.config.issuers ?? [];
  const detail = {
    issuers: issuers.length,
    rules: issuers.reduce((sum, { access = [] }) => sum + access.length, 0),
  };
  host.log.info('identity changed', { path: file.path, ...detail });
  audit(host, 'ok', detail, 'identity.update');
}

/** Writes the row and the line that a change by the admin API has. */
function audit(
  { log, redactor, stores }: Host,
  outcome: 'ok' | 'error',
  detail: Readonly<Record<string, unknown>>,
  action = 'config.update',
): void {
  const row = { action, actor: FILE.actor };
  stores.audit.append({ ...row, targetId: '*', outcome, detail });
  log.info('admin audit', { ...row, target_id: '*', outcome, ...redactedCopy(detail, redactor) });
}

/** Workers read the file as well; one that does not is ended, since it lets in whom the file does not. */
async function spreadIdentity({ team }: Host): Promise<void> {
  if (team?.role !== 'primary') return;
  await team.askAll(IDENTITY_TOPIC, {
    limitMs: LOOK_MS,
    late: (seat, waitedMs) => team.replace(seat, waitedMs),
  });
}
