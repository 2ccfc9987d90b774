import { posix } from 'node:path';
import type { SettingNote } from './setting-note.ts';
import type { StoreVariables } from './store-settings.ts';

/** Where SQLite keeps what each store has, in the folder of `GW_DATA_DIR`. */
const FILES: Readonly<Record<StoreVariables['prefix'], string>> = {
  API_KEY_STORE: 'keys.db',
  CONFIG_STORE: 'config.db',
  REQUEST_LOG_STORE: 'requests.db',
};

/** Signs that mean something in the address of a SQLite file. */
const SPECIAL = /[?#%]/;

/** The folder of `GW_DATA_DIR`, and which stores keep their files there. */
export class DataFolder {
  /** As it was written, without blanks around it; `undefined` where none is named. */
  readonly path: string | undefined;
  #isUsed = false;

  constructor(written: string | undefined) {
    this.path = written?.trim() || undefined;
  }

  /** Whether a store keeps its files there. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** What the environment says of a store; where it says nothing, a file in the folder. */
  storeOf(said: StoreVariables): StoreVariables {
    if (this.path === undefined || isSaid(said.backend) || isSaid(said.dsn)) return said;
    this.#isUsed = true;
    return { ...said, backend: 'sqlite', dsn: addressIn(this.path, FILES[said.prefix]) };
  }

  /** Warns where no store keeps anything there. Call it once all stores have been read. */
  noteUnused(notes: SettingNote[]): void {
    if (this.path === undefined || this.isUsed) return;
    notes.push({
      level: 'warn',
      rule: 'WN70',
      message: 'GW_DATA_DIR has no effect: every store has variables of its own; unset it, or one of them',
    });
  }
}

const isSaid = (value: string | undefined): boolean => value !== undefined && value.trim() !== '';

function addressIn(folder: string, file: string): string {
  const path = posix.join(folder, file);
  return SPECIAL.test(path) ? `file:${path.split('/').map(encodeURIComponent).join('/')}` : path;
}
