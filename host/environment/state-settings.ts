import { isAbsolute } from 'node:path';
import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

/** Where replicas hold their limits together. */
export interface StateSettings {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: number;
  /** Path of a PEM that holds whom the server's certificate may be signed by. */
  readonly ca: string | undefined;
  readonly serverName: string | undefined;
  /** Tells those gateways from others that use the same server. */
  readonly prefix: string;
}

const DEFAULT_PORT = 6379;
const SCHEMES: Readonly<Record<string, boolean>> = {
  'redis:': false,
  'rediss:': true,
  'valkey:': false,
  'valkeys:': true,
};
const PREFIX = /^[a-z0-9-]{1,32}$/;

/** `undefined` where each process holds its own. What cannot be used stops the start: limits would not be what was meant. */
export function readStateSettings(variables: Variables, notes: SettingNote[]): StateSettings | undefined {
  const text = variables['GW_STATE_URL']?.trim() ?? '';
  const prefix = variables['GW_STATE_PREFIX']?.trim() || 'default';
  if (!PREFIX.test(prefix))
    notes.push({
      level: 'fatal',
      message: 'GW_STATE_PREFIX cannot be used: write 1 to 32 characters of a to z, 0 to 9 and -',
    });
  if (text === '' || text === 'memory') return undefined;
  const read = readAddress(text);
  if (typeof read !== 'string') return { ...read, prefix };
  notes.push({ level: 'fatal', message: `GW_STATE_URL cannot be used: ${read}` });
  return undefined;
}

/** What holds for budgets of several processes while their store does not answer. */
export function readStateFailure(variables: Variables, notes: SettingNote[]): 'open' | 'closed' {
  const word = variables['GW_STATE_FAILURE']?.trim() ?? '';
  if (word === 'closed') return word;
  if (word !== '' && word !== 'open')
    notes.push({ level: 'fatal', message: 'GW_STATE_FAILURE cannot be used: write open or closed' });
  return 'open';
}

/** Or why it cannot be used, without anything of it that may be a password. */
function readAddress(text: string): Omit<StateSettings, 'prefix'> | string {
  const url = URL.parse(text);
  if (!url) return 'write memory, or an address such as rediss://user:password@host:6379/0';
  const isEncrypted = SCHEMES[url.protocol];
  if (isEncrypted === undefined)
    return 'its scheme is not known; use redis, rediss, valkey or valkeys, or write memory';
  if (url.hostname === '') return 'it names no host';
  if (url.port === '0') return 'its port is 0';
  if (url.hash !== '') return 'it ends in a fragment; write # in a password as %23';
  if (!/^(?:\/(?:\d{1,4})?)?$/.test(url.pathname)) return 'its path is not the number of a database';
  const query = readQuery(url.searchParams, isEncrypted);
  if (typeof query === 'string') return query;
  const user = decoded(url.username);
  const password = decoded(url.password);
  if (user === undefined || password === undefined) return 'its user or password is not well encoded; write % as %25';
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    isEncrypted,
    user: user || undefined,
    password: password || undefined,
    database: Number(url.pathname.slice(1)),
    ...query,
  };
}

function readQuery(query: URLSearchParams, isEncrypted: boolean): Pick<StateSettings, 'ca' | 'serverName'> | string {
  const names = [...query.keys()];
  if (names.some((name) => name !== 'ca' && name !== 'servername'))
    return 'its query holds something else than ca and servername';
  if (new Set(names).size < names.length) return 'its query says something twice';
  if (names.length > 0 && !isEncrypted) return 'ca and servername are for rediss and valkeys';
  const ca = query.get('ca') ?? undefined;
  if (ca !== undefined && !isAbsolute(ca)) return 'ca is not an absolute path';
  const serverName = query.get('servername') ?? undefined;
  if (serverName === '') return 'servername is empty';
  return { ca, serverName };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
