import type { Log } from '../../contract/index.ts';
import { connectionOf, type ProviderInstance } from '../../upstream/instance.ts';

/** Logs each declared instance once that it can be called, as a provider of the environment is at the start. */
export class RegisteredLines {
  readonly #log: Pick<Log, 'info'>;
  #known: ReadonlySet<ProviderInstance> = new Set();

  constructor(log: Pick<Log, 'info'>) {
    this.#log = log;
  }

  /** After a configuration has become the one in force. An instance that stays as it was is the same object, and has its line already. */
  write(instances: ReadonlyMap<string, ProviderInstance>): void {
    const registered = [...instances.values()].filter((instance) => connectionOf(instance) !== undefined);
    for (const instance of registered)
      if (!this.#known.has(instance))
        this.#log.info('provider registered', { provider: instance.name, kind: instance.kind });
    this.#known = new Set(registered);
  }
}
