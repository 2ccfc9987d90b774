import type { GatewayConfig } from '../config/document.ts';
import { GatewayError } from '../contract/index.ts';

/** Who changes the configuration. */
export interface Writer {
  /** As history and audit name it: a credential, or `file`. */
  readonly actor: string;
  /** The version that the writer saw last. When another one is the newest by now, the change is refused with `version_conflict`. */
  readonly version?: number | undefined;
}

export interface ConfigurationChange extends Writer {
  readonly config: GatewayConfig;
}

/** Keeps what writers changed, so that the next start begins with it. */
export interface ConfigurationStore {
  /** Number of the newest version that this process knows of; 0 before the first change. */
  readonly version: number;
  /** The stored configuration as JSON; `undefined` while there is none, and the file or the default counts. */
  read(): Promise<string | undefined>;
  /**
   * Keeps a change that has been checked and built, and resolves with its version: all of it or nothing. It compares versions
   * once more, together with other processes. The caller waits without a limit of its own, which could not tell what was
   * kept: a store that may hang bounds its calls.
   */
  append(change: ConfigurationChange): Promise<number>;
}

/** Without a store: versions are counted, and a restart begins with the file again. */
export class UnstoredConfiguration implements ConfigurationStore {
  #version = 0;

  get version(): number {
    return this.#version;
  }

  read(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  append(change: ConfigurationChange): Promise<number> {
    refuseStale(change, this);
    this.#version += 1;
    return Promise.resolve(this.#version);
  }
}

/** Throws when the writer has not seen the newest version. */
export function refuseStale(writer: Writer, { version }: Pick<ConfigurationStore, 'version'>): void {
  if (writer.version === undefined || writer.version === version) return;
  throw new GatewayError('version_conflict', `the configuration has version ${version} by now, not ${writer.version}`);
}
