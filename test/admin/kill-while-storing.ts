import { SqlConfiguration } from '../../builtins/stores/configuration/sql-config.ts';
import type { ConfigurationChange, ConfigurationVersion } from '../../host/stores/configuration-store.ts';

/** Imported before the gateway: its process dies as its power would, just before or just after a change has been kept. */
const { append } = SqlConfiguration.prototype as {
  readonly append: (this: SqlConfiguration, change: ConfigurationChange) => Promise<ConfigurationVersion>;
};
const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => {});
};

SqlConfiguration.prototype.append = async function appendAndDie(change) {
  const [, moment] = /^(before|after)$/.exec(change.text.match(/"moment":"(\w+)"/)?.[1] ?? '') ?? [];
  if (moment === 'before') return die();
  const entry = await append.call(this, change);
  return moment === 'after' ? die() : entry;
};
