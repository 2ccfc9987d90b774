import type { Retention } from '../stores/log/log-retention.ts';
import type { SettingNote } from './setting-note.ts';

export type StoreBackend = 'memory' | 'sqlite' | 'postgres';

/** Where something is kept. */
export interface StoreSettings {
  readonly backend: StoreBackend;
  /** As it was written, without blanks around it; `undefined` when nothing was. */
  readonly dsn: string | undefined;
  /** The address of the server itself, where the other is one of a pooler. */
  readonly listenDsn?: string | undefined;
  /** What the variables begin with: `API_KEY_STORE`. */
  readonly prefix: string;
}

/** Words that operators choose a backend by. */
const BACKENDS: Readonly<Record<string, StoreBackend>> = {
  memory: 'memory',
  'in-memory': 'memory',
  inmemory: 'memory',
  sqlite: 'sqlite',
  postgres: 'postgres',
  postgresql: 'postgres',
};
const DURABLE = Object.keys(BACKENDS).filter((word) => BACKENDS[word] !== 'memory');

/** What the environment says of one store: the words that its variables begin with, and what stands in them. */
export interface StoreVariables {
  readonly prefix: 'API_KEY_STORE' | 'CONFIG_STORE' | 'REQUEST_LOG_STORE';
  readonly backend: string | undefined;
  readonly dsn: string | undefined;
  readonly listenDsn?: string | undefined;
}

/** Keys with sessions and the audit trail, or the configuration. See docs/stores.md#where-keys-are-kept. */
export function readStoreSettings(
  { prefix, backend: word, dsn: address, listenDsn: listenAddress }: StoreVariables,
  notes: SettingNote[],
): StoreSettings {
  const backend = readBackend(`${prefix}_BACKEND`, word, Object.keys(BACKENDS), notes) ?? 'memory';
  const dsn = address?.trim() || undefined;
  if (backend === 'postgres') needDsn(prefix, dsn, notes);
  if (backend === 'memory' && dsn !== undefined)
    notes.push({
      level: 'warn',
      message: `${prefix}_DSN has no effect while ${prefix}_BACKEND is memory; set it to sqlite or postgres`,
    });
  const listenDsn = listenAddress?.trim() || undefined;
  if (backend !== 'postgres' && listenDsn !== undefined)
    notes.push({
      level: 'warn',
      message: `${prefix}_LISTEN_DSN has no effect while ${prefix}_BACKEND is ${backend}; unset it`,
    });
  return { backend, dsn, prefix, ...(backend === 'postgres' && listenDsn !== undefined && { listenDsn }) };
}

/** The request log, which is not kept unless a backend is named; in memory it cannot be. */
export function readLogStoreSettings(
  { prefix, backend: word, dsn: address }: StoreVariables,
  notes: SettingNote[],
): StoreSettings | undefined {
  const backend = readBackend(`${prefix}_BACKEND`, word, DURABLE, notes);
  const dsn = address?.trim() || undefined;
  if (backend === 'postgres') needDsn(prefix, dsn, notes);
  if (backend === undefined && dsn !== undefined)
    notes.push({
      level: 'warn',
      message: `${prefix}_DSN has no effect while ${prefix}_BACKEND is unset; set it to sqlite or postgres`,
    });
  return backend && { backend, dsn, prefix };
}

function needDsn(prefix: string, dsn: string | undefined, notes: SettingNote[]): void {
  if (dsn !== undefined) return;
  notes.push({
    level: 'fatal',
    message: `${prefix}_DSN is not set, and ${prefix}_BACKEND=postgres needs it; set it to postgres://host:5432/database, with the user and the password before the host`,
  });
}

const BOUND = /^([1-9]\d{0,14})([dr])$/;

/** `30d` is days, `1000000r` rows; both stand behind a comma. What cannot be read stops the start: it would keep or delete other rows than were meant. */
export function readRetention(text: string | undefined, notes: SettingNote[]): Retention {
  const bounds = (text ?? '')
    .split(',')
    .map((bound) => bound.trim())
    .filter((bound) => bound !== '');
  const found = new Map(bounds.map((bound) => [BOUND.exec(bound)?.[2], Number(BOUND.exec(bound)?.[1])]));
  if (found.has(undefined) || found.size < bounds.length) {
    notes.push({
      level: 'fatal',
      message: `REQUEST_LOG_RETENTION is "${text?.trim()}"; write days as 30d, rows as 1000000r, or both with a comma between them`,
    });
    return { days: undefined, rows: undefined };
  }
  return { days: found.get('d'), rows: found.get('r') };
}

/** What is kept of spend. */
export interface SpendSettings {
  readonly isKept: boolean;
  /** Days after which it is deleted; `undefined` for never. */
  readonly days: number | undefined;
}

const SPEND_DAYS = 400;

/** What cannot be read counts as not written, and is warned of: books that are kept too long do no harm. */
export function readSpendSettings(
  isKept: string | undefined,
  retention: string | undefined,
  notes: SettingNote[],
): SpendSettings {
  const [word, kept] = [isKept, retention].map((text) => text?.trim().toLowerCase() ?? '');
  const days = /^([1-9]\d{0,5})d$/.exec(kept ?? '')?.[1];
  if (word !== '' && word !== 'on' && word !== 'off')
    notes.push({
      level: 'warn',
      message: `GW_SPEND is "${isKept?.trim()}", which counts as on; use on or off`,
      rule: 'WN46',
    });
  if (kept !== '' && kept !== 'off' && days === undefined)
    notes.push({
      level: 'warn',
      message: `GW_SPEND_RETENTION is "${retention?.trim()}", which counts as ${SPEND_DAYS}d; use days such as 90d, or off`,
      rule: 'WN46',
    });
  return { isKept: word !== 'off', days: kept === 'off' ? undefined : Number(days ?? SPEND_DAYS) };
}

/** Connections of one process to one database of Postgres. The least have room for each purpose; see docs/stores.md#connections. */
export const PG_CONNECTIONS = { least: 6, unlessSaid: 10, most: 100 } as const;

/** What cannot be read stops the start: another number may be more than the server takes. */
export function readConnections(text: string | undefined, notes: SettingNote[]): number {
  const { least, unlessSaid, most } = PG_CONNECTIONS;
  const written = text?.trim() ?? '';
  if (written === '') return unlessSaid;
  const connections = /^\d+$/.test(written) ? Number(written) : Number.NaN;
  if (connections >= least && connections <= most) return connections;
  notes.push({
    level: 'fatal',
    message: `GW_PG_CONNECTIONS is "${written}"; write a whole number from ${least} to ${most}`,
  });
  return unlessSaid;
}

/** `undefined` when none is chosen, and when the word is unknown, which stops the start. */
function readBackend(
  name: string,
  text: string | undefined,
  words: readonly string[],
  notes: SettingNote[],
): StoreBackend | undefined {
  const written = text?.trim() ?? ''; // quoted as it was written: only so does redaction recognise a secret in it
  if (written === '') return undefined;
  const word = written.toLowerCase();
  if (words.includes(word)) return BACKENDS[word];
  notes.push({ level: 'fatal', message: `${name} is "${written}"; use one of: ${words.join(', ')}` });
  return undefined;
}
