import { GatewayError } from '../contract/index.ts';

/** Who changes the configuration. */
export interface Writer {
  /** As history and audit name it: a credential, or `file`. */
  readonly actor: string;
  /** The version that the writer saw last. When another one is the newest by now, the change is refused with `version_conflict`. */
  readonly version?: number | undefined;
  /** As in `NewestConfiguration`, of that version. */
  readonly mark?: string | undefined;
}

/**
 * `write` and `rollback` replace what is stored, and the next start begins with it. `reset` drops it, and `file` leaves nothing stored:
 * the next start begins with the file, or the default. Each is a version of its own.
 */
export type ChangeKind = 'write' | 'rollback' | 'reset' | 'file';

export interface ConfigurationChange extends Writer {
  readonly kind: ChangeKind;
  /** The whole configuration as JSON, as it was written. */
  readonly text: string;
  /** The highest version that this process knows of. The new one has a higher number, also in a store that went back to an earlier state. */
  readonly above?: number;
  /** Throws where what is stored may not be replaced. */
  readonly mayReplace?: (stored: string) => void;
}

/** One entry of the history. */
export interface ConfigurationVersion {
  readonly version: number;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** As in `ConfigurationChange`; empty where it was not asked for. */
  readonly text: string;
  /** Empty in rows of an older program. */
  readonly actor: string;
  /** The version that was the newest before a rollback. */
  readonly rolledBackFrom: number | undefined;
}

/** What all processes agree on. */
export interface NewestConfiguration {
  /** 0 before the first change. */
  readonly version: number;
  /** What tells its text from another one that had the same number once, in a store that lost changes. Mostly absent: no number is used twice. */
  readonly mark?: string | undefined;
  /** The configuration of that version; `undefined` before the first change. */
  readonly text: string | undefined;
  /** Whether a start begins with it, rather than with the file or the default. */
  readonly isStored: boolean;
}

/** Versions that are shown at once. */
export const MOST_VERSIONS = 200;

/** Which part of the history. */
export interface HistoryPage {
  /** The newest so many; `MOST_VERSIONS` unless said. */
  readonly limit?: number | undefined;
  /** Versions below this one alone. */
  readonly before?: number | undefined;
  /** Entries have an empty text. */
  readonly isBare?: boolean | undefined;
}

/** Keeps what writers changed. */
export interface ConfigurationStore {
  /** Whether a restart, and other processes, see what is kept here. */
  readonly isDurable: boolean;
  /** The newest version, and what a start would begin with. */
  newest(): Promise<NewestConfiguration>;
  /**
   * Keeps a change that has been checked and built: all of it or nothing. It compares versions once more, together with other
   * processes. The caller waits without a limit of its own, which could not tell what was kept: a store that may hang bounds its calls.
   */
  append(change: ConfigurationChange): Promise<ConfigurationVersion>;
  /** Versions that are made from now on have numbers above this one; `reused` is one that has another text than before. Absent where no store can lose what it held. */
  readonly raiseFloor?: (version: number, reused?: number) => Promise<void>;
  /** Versions of what is kept, ascending. */
  history(page?: HistoryPage): Promise<readonly ConfigurationVersion[]>;
  ping(): Promise<void>;
  /** Calls when another process may have changed something. Absent where there is no other. */
  readonly onChange?: (changed: () => void) => void;
}

/** Without a store: versions are counted from 1 in this process, and a restart begins with the file again. */
export class UnstoredConfiguration implements ConfigurationStore {
  readonly isDurable = false;
  readonly #now: () => number;
  #versions: readonly ConfigurationVersion[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  async newest(): Promise<NewestConfiguration> {
    const last = this.#versions.at(-1);
    return { version: last?.version ?? 0, text: last?.text, isStored: false };
  }

  async append(change: ConfigurationChange): Promise<ConfigurationVersion> {
    const { version: before } = await this.newest();
    refuseStale(change, before);
    const added = versionOf(change, before, this.#now());
    this.#versions = [...this.#versions, added].slice(-MOST_VERSIONS);
    return added;
  }

  async history({ limit = MOST_VERSIONS, before, isBare }: HistoryPage = {}): Promise<readonly ConfigurationVersion[]> {
    const older = this.#versions.filter(({ version }) => before === undefined || version < before);
    return older.slice(-limit).map((entry) => (isBare ? { ...entry, text: '' } : entry));
  }

  async ping(): Promise<void> {}
}

/** The entry that a change becomes, after the version that was the newest, and above the highest number that was used. */
export function versionOf(
  { actor, kind, text }: ConfigurationChange,
  before: number,
  now: number,
  floor = before,
): ConfigurationVersion {
  return {
    version: Math.max(before, floor) + 1,
    updatedAt: now,
    text,
    actor,
    rolledBackFrom: kind === 'rollback' ? before : undefined,
  };
}

/** Throws when the writer has not seen the newest version. */
export function refuseStale(writer: Writer, newest: number, mark?: string): void {
  if (writer.version === undefined || (writer.version === newest && writer.mark === mark)) return;
  if (writer.version === newest)
    throw new GatewayError('version_conflict', `version ${newest} is another configuration by now`);
  throw new GatewayError('version_conflict', `the configuration has version ${newest} by now, not ${writer.version}`);
}
