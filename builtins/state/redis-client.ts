import { readFile } from 'node:fs/promises';
import { createClient, type RedisClientType } from '@redis/client';
import type { StateSettings } from '../../host/environment/state-settings.ts';

const CONNECT_MS = 1000;
/** Milliseconds without a byte after which a connection is taken for dead, and between two questions that keep it from being silent. */
const SILENT_MS = 1500;
const PING_MS = 500;
/** Milliseconds before a lost connection is made anew: at first, and at most. */
const FIRST_RETRY_MS = 100;
const MOST_RETRY_MS = 2000;
const MOST_WAITING = 10_000;

/** A client that is not connected yet. It fails at once while it is not, and connects anew by itself. */
export async function createStateClient(settings: StateSettings, name: string): Promise<RedisClientType> {
  const { host, port, isEncrypted, user, password, database, ca, serverName } = settings;
  const common = { host, port, connectTimeout: CONNECT_MS, socketTimeout: SILENT_MS, reconnectStrategy: retryAfter };
  const client: RedisClientType = createClient({
    RESP: 3,
    name,
    database,
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    disableOfflineQueue: true,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    commandsQueueMaxLength: MOST_WAITING,
    pingInterval: PING_MS,
    socket: isEncrypted
      ? {
          ...common,
          tls: true,
          ...(ca !== undefined && { ca: await readFile(ca) }),
          ...(serverName !== undefined && { servername: serverName }),
        }
      : common,
  });
  client.on('error', () => {}); // the calls that fail say so
  return client;
}

const retryAfter = (retries: number): number => Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries, 10));
