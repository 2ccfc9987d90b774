import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createGateway, type Gateway } from 'gw';

/** What every recorded gateway was opened with. */
export const MASTER_KEY = 'gw_00000000000000000000000000000001';

/** What an administrator sees of what was recorded. */
const READ = [
  '/admin/keys',
  '/admin/config',
  '/admin/config/history',
  '/admin/logs?limit=100',
  '/admin/audit?limit=100',
  '/admin/accounts',
  '/admin/spend?by=key,model&from=2026-11-01T00:00:00Z&to=2027-09-01T00:00:00Z',
  '/admin/keys/usage',
] as const;

export interface Recorded {
  readonly gateway: Gateway;
  readonly ask: (method: string, path: string, body?: object, key?: string) => Promise<{ status: number; body: any }>;
  readonly close: () => Promise<void>;
}

/** A gateway of this checkout on the files of a folder. */
export async function openRecorded(folder: string): Promise<Recorded> {
  const gateway = await createGateway({
    env: { GW_DATA_DIR: folder, MASTER_KEY, RATE_LIMIT_RPS: '0', LOG_LEVEL: 'error', GW_SPEND_RETENTION: 'off' },
    planes: ['data', 'control'],
    log: () => {},
  });
  const server = createServer((request, response) => gateway.handler(request, response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    gateway,
    ask: async (method, path, body, key = MASTER_KEY) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text };
    },
    close: async () => {
      await gateway.drain(0);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** All of it, by path. */
export async function answersOf({ ask }: Recorded): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const path of READ) answers[path] = await ask('GET', path);
  return answers;
}

/** What is not as it was recorded: members that are gone or have changed. What came to it since then is none of it. */
export function lostIn(recorded: unknown, now: unknown, path = ''): string[] {
  if (Array.isArray(recorded))
    return Array.isArray(now) && now.length === recorded.length
      ? recorded.flatMap((each, at) => lostIn(each, now[at], `${path}[${at}]`))
      : [`${path}: a list of ${recorded.length} is ${Array.isArray(now) ? now.length : typeof now}`];
  if (typeof recorded === 'object' && recorded !== null)
    return Object.entries(recorded).flatMap(([name, each]) =>
      lostIn(each, (now as Record<string, unknown> | null | undefined)?.[name], `${path}.${name}`),
    );
  return Object.is(recorded, now) ? [] : [`${path}: ${JSON.stringify(recorded)} is ${JSON.stringify(now)}`];
}
