import { stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { errorMessage } from '../../../host/common/error-message.ts';
import type { LoadedFile } from '../../../host/config/load.ts';
import { secretsOf } from '../../../host/config/secrets.ts';
import type { AdminListener } from '../../../host/environment/listener-settings.ts';
import type { Finding } from '../../../host/host-hooks.ts';
import type { Host } from '../../../host/host.ts';
import { SHIPPED } from '../../../host/registry/registry.ts';

/** Larger differences between two clocks make signatures, sessions and expiries go wrong. */
const MAX_SKEW_MS = 30_000;
/** This program did not exist before. */
const EARLIEST = Date.UTC(2026, 0, 1);
const MAX_PORT = 65_535;

/** Whether a start could listen. `answering` is the address where a gateway answered, if one did. */
export async function portFindings(
  port: string,
  answering: string | undefined,
  address?: string,
): Promise<readonly Finding[]> {
  const number = Number(port);
  if (!/^\d+$/.test(port) || number > MAX_PORT)
    return [{ level: 'bad', text: `PORT is "${port}", which is not a port number` }];
  const fault = await faultOfListening(number, address);
  if (fault === undefined) return [{ level: 'good', text: number === 0 ? 'any free port' : `${port} is free` }];
  if (fault.code !== 'EADDRINUSE') return [{ level: 'bad', text: `${port}: ${errorMessage(fault)}` }];
  const isOwn = answering !== undefined && new URL(answering).port === port;
  return [
    isOwn
      ? { level: 'good', text: `${port} is used by the gateway that answers` }
      : { level: 'warning', text: `${port} is used by another program; set PORT` },
  ];
}

/** Whether the listener of the control plane could open, where there is one. While a gateway answers, it may hold that port. */
export async function adminPortFindings(
  admin: AdminListener | undefined,
  answering: string | undefined,
): Promise<readonly Finding[]> {
  if (!admin || admin.port === 0) return [];
  const { port, address } = admin;
  const shown = `admin port ${port}`;
  const fault = await faultOfListening(port, address);
  if (fault === undefined) return [{ level: 'good', text: `${shown} is free` }];
  if (fault.code !== 'EADDRINUSE') return [{ level: 'bad', text: `${shown}: ${errorMessage(fault)}` }];
  return [
    answering === undefined
      ? { level: 'warning', text: `${shown} is used by another program; set GW_ADMIN_PORT` }
      : { level: 'good', text: `${shown} is used, and a gateway answers` },
  ];
}

function faultOfListening(port: number, host?: string): Promise<NodeJS.ErrnoException | undefined> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.ErrnoException | undefined>();
  const server = createServer();
  server.once('error', resolve);
  server.listen({ port, ...(host !== undefined && { host }) }, () => server.close(() => resolve(undefined)));
  return promise;
}

/** `date` is the gateway's, of its answer. */
export function clockFindings(now: number, date: string | undefined): readonly Finding[] {
  const shown = `${new Date(now).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
  if (now < EARLIEST) return [{ level: 'bad', text: `${shown} is long ago: set the clock of this machine` }];
  const skew = date === undefined ? Number.NaN : Date.parse(date) - now;
  if (Math.abs(skew) > MAX_SKEW_MS)
    return [
      {
        level: 'warning',
        text: `${shown}; the clock of the gateway is ${Math.round(Math.abs(skew) / 1000)} s ${skew > 0 ? 'ahead' : 'behind'}`,
      },
    ];
  return [{ level: 'good', text: shown }];
}

/** What others wrote and a start would load. */
export function moduleFindings({ registry }: Host): readonly Finding[] {
  const all = [...registry.providers.values(), ...registry.strategies.values(), ...registry.plugins.values()];
  const others = all.flatMap(({ kind, name }) => {
    const from = registry.originOf(kind, name) ?? SHIPPED;
    return from === SHIPPED ? [] : [{ level: 'good', text: `${kind} ${name} (${from})` } as const];
  });
  return others.length > 0 ? others : [{ level: 'absent', text: 'none' }];
}

/** Who may read and change the configuration file. */
export async function fileFindings(file: LoadedFile | undefined): Promise<readonly Finding[]> {
  const stats = file && (await stat(file.path).catch(() => undefined));
  if (!file || !stats) return [{ level: 'absent', text: 'no configuration file' }];
  const mode = (stats.mode & 0o777).toString(8);
  const holdsSecret = file.config !== undefined && secretsOf(file.config).some((text) => !/^\$\{\w+\}$/.test(text));
  if ((stats.mode & 0o022) !== 0)
    return [{ level: 'warning', text: `${file.path} may be changed by other users (mode ${mode}); run chmod 600` }];
  if (holdsSecret && (stats.mode & 0o044) !== 0)
    return [
      {
        level: 'warning',
        text: `${file.path} holds secrets and may be read by other users (mode ${mode}); run chmod 600, or write \${NAME}`,
      },
    ];
  return [{ level: 'good', text: `${file.path} (mode ${mode})` }];
}
