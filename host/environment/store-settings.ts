import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

export type StoreBackend = 'memory' | 'sqlite' | 'postgres';

/** Where something is kept. */
export interface StoreSettings {
  readonly backend: StoreBackend;
  /** As it was written, without blanks around it; `undefined` when nothing was. */
  readonly dsn: string | undefined;
  /** What the variables begin with: `API_KEY_STORE`. */
  readonly prefix: string;
}

/** Words that operators choose a backend by. */
const BACKENDS: Readonly<Record<string, StoreBackend>> = {
  memory: 'memory', 'in-memory': 'memory', inmemory: 'memory', sqlite: 'sqlite', postgres: 'postgres', postgresql: 'postgres',
};
const DURABLE = Object.keys(BACKENDS).filter((word) => BACKENDS[word] !== 'memory');

/** What this version does not serve yet: it keeps everything in memory, and says so to those who asked for more. */
const UNSERVED: readonly (readonly [prefix: string, words: readonly string[]])[] = [['REQUEST_LOG_STORE', DURABLE]];

/** What is said of stores that have no effect. */
export function noteUnservedStores(variables: Variables, notes: SettingNote[]): void {
  for (const [prefix, words] of UNSERVED) {
    const backend = readBackend(`${prefix}_BACKEND`, variables[`${prefix}_BACKEND`], words, notes);
    if (backend !== undefined && backend !== 'memory') {
      notes.push({ level: 'warn', message: `${prefix}_BACKEND=${backend} has no effect in this version: nothing is stored beyond the process` });
    }
  }
}

/** What the environment says of one store: the words that its variables begin with, and what stands in them. */
export interface StoreVariables {
  readonly prefix: 'API_KEY_STORE' | 'CONFIG_STORE';
  readonly backend: string | undefined;
  readonly dsn: string | undefined;
}

/** Keys with sessions and the audit trail, or the configuration. Source: configuration reference 4.4. */
export function readStoreSettings({ prefix, ...written }: StoreVariables, notes: SettingNote[]): StoreSettings {
  const backend = readBackend(`${prefix}_BACKEND`, written.backend, Object.keys(BACKENDS), notes) ?? 'memory';
  const dsn = written.dsn?.trim() || undefined;
  if (backend === 'postgres' && dsn === undefined) {
    notes.push({ level: 'fatal', message: `${prefix}_DSN is not set, and ${prefix}_BACKEND=postgres needs it; set it to postgres://user:password@host:5432/database` });
  }
  if (backend === 'memory' && dsn !== undefined) notes.push({ level: 'warn', message: `${prefix}_DSN has no effect while ${prefix}_BACKEND is memory; set it to sqlite or postgres` });
  return { backend, dsn, prefix };
}

/** `undefined` when none is chosen, and when the word is unknown, which stops the start. */
function readBackend(name: string, text: string | undefined, words: readonly string[], notes: SettingNote[]): StoreBackend | undefined {
  const written = text?.trim() ?? ''; // quoted as it was written: only so does redaction recognise a secret in it
  if (written === '') return undefined;
  const word = written.toLowerCase();
  if (words.includes(word)) return BACKENDS[word];
  notes.push({ level: 'fatal', message: `${name} is "${written}"; use one of: ${words.join(', ')}` });
  return undefined;
}
