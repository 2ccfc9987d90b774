import { posix } from 'node:path';
import ipaddr from 'ipaddr.js';
import { ownSecretFiles } from '../config/own-secrets.ts';
import { DEFAULT_SECRET_DIRECTORY } from '../config/secrets/secret-paths.ts';
import { parseDuration } from '../contract/duration.ts';
import type { BucketSpec } from '../contract/index.ts';
import type { LogColumnName } from '../contract/log-columns.ts';
import { type Level, logLevel } from '../log/logger.ts';
import type { Retention } from '../stores/log/log-retention.ts';
import type { Allowances } from '../config/grants/allowances.ts';
import { readAllowances } from './config-env.ts';
import { type EndingSettings, readEnding } from './ending-settings.ts';
import { type ListenerSettings, readListeners } from './listener-settings.ts';
import { readLogOmit } from './log-omit.ts';
import { readSwitch } from './read-switch.ts';
import { DataFolder } from './data-folder.ts';
import type { SettingNote } from './setting-note.ts';
import { isWildcard, noteRisks } from './risks.ts';
import { readStateFailure, readStateSettings, type StateSettings } from './state-settings.ts';
import {
  readConnections,
  readLogStoreSettings,
  readRetention,
  readSpendSettings,
  readStoreSettings,
  type SpendSettings,
  type StoreSettings,
} from './store-settings.ts';
import { ACCESS_WORDS, type KeyAccess } from '../stores/keys/access-of-keys.ts';
import type { Variables } from './variables.ts';
import { readWorkers, type WorkerCount } from './worker-settings.ts';

export type AddressRange = [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** What the environment says about this process, read once at start. See docs/configuration.md#environment-variables. */
export interface Settings extends EndingSettings {
  readonly port: string;
  readonly listeners: ListenerSettings;
  readonly isProduction: boolean;
  readonly logLevel: Level;
  /** Path of the configuration file, when one is named. */
  readonly configPath: string | undefined;
  /** A changed configuration file is applied while the gateway runs. */
  readonly watchesConfig: boolean;
  /** The admin API may add MCP servers that are commands: they run on this machine. */
  readonly allowsAdminStdio: boolean;
  /** What the admin API may have configurations refer to, and send where. */
  readonly allowances: Allowances;
  readonly masterKey: string | undefined;
  /** The folder of `GW_DATA_DIR`, where a store keeps files there; as it was written. */
  readonly dataFolder: string | undefined;
  /** Whether a start brings tables of stores up to date. */
  readonly migrates: boolean;
  /** Where keys, sessions and the audit trail are kept. */
  readonly keyStore: StoreSettings;
  /** Where changes of the configuration are kept. */
  readonly configurationStore: StoreSettings;
  /** Where rows of the request log are kept; `undefined` when they are not. */
  readonly logStore: StoreSettings | undefined;
  readonly logRetention: Retention;
  /** Columns of the request log that stay empty. */
  readonly logOmit: readonly LogColumnName[];
  /** Whether it is kept what requests have cost, and for how many days; `undefined` days: for ever. */
  readonly spend: SpendSettings;
  /** Connections of this process to one database of Postgres, at most. */
  readonly pgConnections: number;
  /** Where replicas hold their limits together; `undefined`: each for itself. */
  readonly state: StateSettings | undefined;
  /** How many processes serve. */
  readonly workers: WorkerCount;
  /** What holds for budgets of several processes while their store does not answer. */
  readonly stateFailure: 'open' | 'closed';
  /** How other processes name this one; the machine's name unless given. */
  readonly replicaName: string | undefined;
  /** What keys of the admin API may reach whose bodies say nothing of it. */
  readonly keyAccess: KeyAccess;
  /** No credential is required on `/v1/*`. */
  readonly allowUnauthenticated: boolean;
  readonly corsOrigins: readonly string[];
  readonly trustedProxies: readonly AddressRange[];
  /** Per client address; `undefined` when switched off. */
  readonly rateLimit: BucketSpec | undefined;
  /** Time between two looks at the providers' live models; `undefined` is never. */
  readonly discoveryIntervalMs: number | undefined;
  /** Absolute paths that files of secrets lie below, without a slash at their end. */
  readonly secretDirectories: readonly string[];
  /** Files that the gateway's own secrets are read from, by variables such as `MASTER_KEY_FILE`. */
  readonly ownSecretFiles: readonly string[];
  /** Profiles are served under `/debug/pprof/`. */
  readonly hasPprof: boolean;
  readonly notes: readonly SettingNote[];
}

const DEFAULT_TRUSTED = '127.0.0.0/8,::1/128';
const DEFAULT_RATE = 20;
const DEFAULT_BURST = 40;
const MIN_DISCOVERY_MS = 60_000;

export function readEnvironment(variables: Variables): Settings {
  const notes: SettingNote[] = [];
  const isProduction = trimmed(variables['GATEWAY_ENV']).toLowerCase() === 'production';
  const allowUnauthenticated = readSwitch(variables, 'ALLOW_UNAUTHENTICATED_PROXY', notes);
  const corsOrigins = list(variables['CORS_ORIGINS']);
  const rateLimit = readRateLimit(variables, notes);
  const stores = readStores(variables, notes);
  const hasPprof = readSwitch(variables, 'ENABLE_PPROF', notes, ['true', '1', 'yes']);
  noteRisks({ isProduction, allowUnauthenticated, corsOrigins, isLimited: rateLimit !== undefined, hasPprof }, notes);
  return {
    port: variables['PORT'] || '8080',
    listeners: readListeners(variables, isProduction, notes),
    isProduction,
    logLevel: logLevel(variables['LOG_LEVEL']),
    configPath: trimmed(variables['GATEWAY_CONFIG']) || undefined,
    watchesConfig: readSwitch(variables, 'GW_CONFIG_WATCH', notes),
    allowsAdminStdio: readSwitch(variables, 'GW_ADMIN_STDIO', notes),
    allowances: readAllowances(variables, notes),
    masterKey: trimmed(variables['MASTER_KEY']) || undefined,
    ...stores,
    migrates: readMigrate(variables['GW_MIGRATE'], notes),
    state: readStateSettings(variables, notes),
    workers: readWorkers(variables, notes),
    stateFailure: readStateFailure(variables, notes),
    replicaName: trimmed(variables['GW_REPLICA_NAME']) || undefined,
    keyAccess: readKeyAccess(variables['GW_KEY_ACCESS_DEFAULT'], notes),
    allowUnauthenticated,
    corsOrigins: corsOrigins.filter((origin) => !isWildcard(origin)),
    trustedProxies: readRanges(variables['TRUSTED_PROXIES'], notes),
    rateLimit,
    ...readEnding(variables, notes),
    discoveryIntervalMs: readDiscoveryInterval(variables['GW_MODEL_DISCOVERY_INTERVAL'], notes),
    secretDirectories: readSecretDirectories(variables['GW_SECRET_DIRS'], notes),
    ownSecretFiles: ownSecretFiles(variables),
    hasPprof,
    notes,
  };
}

/** What cannot be read stops the start: it would change tables that were to stay. */
function readMigrate(text: string | undefined, notes: SettingNote[]): boolean {
  const word = trimmed(text).toLowerCase();
  if (!['', 'start', 'off'].includes(word))
    notes.push({ level: 'fatal', message: `GW_MIGRATE is "${trimmed(text)}"; use start or off` });
  return word !== 'off';
}

/** What cannot be read stops the start: a typing error must not make keys wider than was meant. */
function readKeyAccess(text: string | undefined, notes: SettingNote[]): KeyAccess {
  const word = trimmed(text).toLowerCase();
  const access = ACCESS_WORDS.find((each) => each === word);
  if (word !== '' && !access)
    notes.push({
      level: 'fatal',
      message: `GW_KEY_ACCESS_DEFAULT is "${trimmed(text)}"; use ${ACCESS_WORDS.join(' or ')}`,
    });
  return access ?? 'full';
}

function readStores(
  variables: Variables,
  notes: SettingNote[],
): Pick<
  Settings,
  'dataFolder' | 'keyStore' | 'configurationStore' | 'logStore' | 'logRetention' | 'logOmit' | 'spend' | 'pgConnections'
> {
  const folder = new DataFolder(variables['GW_DATA_DIR']);
  const keyStore = readStoreSettings(
    folder.storeOf({
      prefix: 'API_KEY_STORE',
      backend: variables['API_KEY_STORE_BACKEND'],
      dsn: variables['API_KEY_STORE_DSN'],
      listenDsn: variables['API_KEY_STORE_LISTEN_DSN'],
    }),
    notes,
  );
  const configurationStore = readStoreSettings(
    folder.storeOf({
      prefix: 'CONFIG_STORE',
      backend: variables['CONFIG_STORE_BACKEND'],
      dsn: variables['CONFIG_STORE_DSN'],
    }),
    notes,
  );
  const logStore = readLogStoreSettings(
    folder.storeOf({
      prefix: 'REQUEST_LOG_STORE',
      backend: variables['REQUEST_LOG_STORE_BACKEND'],
      dsn: variables['REQUEST_LOG_STORE_DSN'],
    }),
    notes,
  );
  folder.noteUnused(notes);
  const logRetention = readRetention(variables['REQUEST_LOG_RETENTION'], notes);
  const logOmit = readLogOmit(variables['REQUEST_LOG_OMIT'], notes);
  const spend = readSpendSettings(variables['GW_SPEND'], variables['GW_SPEND_RETENTION'], notes);
  const pgConnections = readConnections(variables['GW_PG_CONNECTIONS'], notes);
  const dataFolder = folder.isUsed ? folder.path : undefined;
  return { dataFolder, keyStore, configurationStore, logStore, logRetention, logOmit, spend, pgConnections };
}

const trimmed = (text: string | undefined): string => text?.trim() ?? '';
const list = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

function readRateLimit(variables: Variables, notes: SettingNote[]): BucketSpec | undefined {
  const rate = decimal(variables, 'RATE_LIMIT_RPS', DEFAULT_RATE, notes);
  const burst = decimal(variables, 'RATE_LIMIT_BURST', DEFAULT_BURST, notes);
  return rate === 0 ? undefined : { ratePerSecond: rate, burst: Math.max(1, burst === 0 ? rate : burst) };
}

function decimal(variables: Variables, name: string, otherwise: number, notes: SettingNote[]): number {
  const text = variables[name];
  if (text === undefined || text === '') return otherwise;
  if (/^(\d+\.?\d*|\.\d+)$/.test(text)) return Number(text);
  notes.push({
    level: 'warn',
    rule: 'WN10',
    message: `${name} is "${text}", which is not a decimal number of 0 or more; ${otherwise} is used`,
  });
  return otherwise;
}

function readRanges(text: string | undefined, notes: SettingNote[]): AddressRange[] {
  const entries = list(text);
  return (entries.length > 0 ? entries : list(DEFAULT_TRUSTED)).flatMap((entry) => {
    try {
      return [readRange(entry)];
    } catch {
      notes.push({
        level: 'fatal',
        message: `TRUSTED_PROXIES holds "${entry}", which is not an address range; write it as address/bits, for example 10.0.0.0/8`,
      });
      return [];
    }
  });
}

/** Only the usual notation: `10/8` and `010.0.0.0/8` are refused: other programs read them as other networks than they look like. */
function readRange(entry: string): AddressRange {
  const [address, bits] = ipaddr.parseCIDR(entry);
  if (address.kind() === 'ipv4' && !ipaddr.IPv4.isValidFourPartDecimal(entry.slice(0, entry.indexOf('/'))))
    throw new Error(`${entry} is ambiguous`);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= 96;
  return isMapped ? [address.toIPv4Address(), bits - 96] : [address, bits];
}

function readDiscoveryInterval(text: string | undefined, notes: SettingNote[]): number | undefined {
  const written = trimmed(text);
  if (written === '') return undefined;
  const ms = parseDuration(written);
  if (ms !== undefined && ms >= MIN_DISCOVERY_MS) return ms;
  notes.push({
    level: 'warn',
    rule: 'WN16',
    message: `GW_MODEL_DISCOVERY_INTERVAL is "${written}", which is not a duration of at least 1m; live models are not looked up`,
  });
  return undefined;
}

/** A file of any name could be read below `/`, and below a relative path, which depends on where the process was started. */
function readSecretDirectories(text: string | undefined, notes: SettingNote[]): readonly string[] {
  const entries = trimmed(text)
    .split(':')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) return [DEFAULT_SECRET_DIRECTORY];
  return entries.flatMap((entry) => {
    const directory = posix.normalize(entry).replace(/\/$/, '');
    if (directory.startsWith('/')) return [directory];
    notes.push({
      level: 'fatal',
      message: `GW_SECRET_DIRS holds "${entry}"; write absolute paths other than /, with colons between them, for example /run/secrets:/etc/gw/secrets`,
    });
    return [];
  });
}
