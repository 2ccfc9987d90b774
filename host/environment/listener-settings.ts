import { isIP } from 'node:net';
import { isIssuerUrl } from '../config/identity/identity-url.ts';
import type { SettingNote } from './setting-note.ts';
import { type ListenersTls, readTls } from './tls-settings.ts';
import type { Variables } from './variables.ts';

const MAX_PORT = 65_535;
const LOOPBACK = '127.0.0.1';

/** Where the gateway listens. */
export interface ListenerSettings {
  /** IP address of the listener, of that for models where there are two; `undefined`: all interfaces. */
  readonly address: string | undefined;
  /** Where browsers reach the dashboard, without a slash at its end; `undefined` where it is not said. */
  readonly publicUrl: string | undefined;
  /** The listener of the control plane; `undefined` where one listener serves everything. */
  readonly admin: AdminListener | undefined;
  readonly tls: ListenersTls;
}

export interface AdminListener {
  /** 0: any free one. */
  readonly port: number;
  readonly address: string;
}

/** Reads `GW_ADDRESS`, `GW_ADMIN_PORT`, `GW_ADMIN_ADDRESS` and the variables of TLS. What cannot be read stops the start: a typing error must not open the control plane. */
export function readListeners(variables: Variables, isProduction: boolean, notes: SettingNote[]): ListenerSettings {
  const address = readAddress('GW_ADDRESS', variables['GW_ADDRESS'], notes);
  const adminAddress = readAddress('GW_ADMIN_ADDRESS', variables['GW_ADMIN_ADDRESS'], notes);
  const publicUrl = readPublicUrl(variables['GW_PUBLIC_URL'], notes);
  const text = variables['GW_ADMIN_PORT']?.trim() ?? '';
  const tls = readTls(variables, text !== '', notes);
  if (text === '') {
    if (adminAddress !== undefined)
      notes.push({ level: 'warn', message: 'GW_ADMIN_ADDRESS has no effect without GW_ADMIN_PORT' });
    return { address, publicUrl, admin: undefined, tls };
  }
  const admin = { port: Number(text), address: adminAddress ?? LOOPBACK };
  if (!/^\d{1,5}$/.test(text) || admin.port > MAX_PORT) {
    notes.push({
      level: 'fatal',
      message: `GW_ADMIN_PORT is "${text}", which is not a port number; set 1 to ${MAX_PORT}`,
    });
    return { address, publicUrl, admin: undefined, tls };
  }
  const port = (variables['PORT'] || '8080').trim();
  if (admin.port !== 0 && admin.port === Number(port) && overlap(address, admin.address))
    notes.push({
      level: 'fatal',
      message: `PORT and GW_ADMIN_PORT are both ${text}, on addresses that overlap; set one of them to another port`,
    });
  if (isProduction && !isLoopback(admin.address) && !tls.admin)
    notes.push({
      level: 'warn',
      rule: 'WN35',
      message: `the admin listener on ${admin.address} is reachable from other machines and speaks no TLS: let only operators reach it`,
    });
  return { address, publicUrl, admin, tls };
}

/** Addresses for browsers are made of it, and never of what a request says of its host. */
function readPublicUrl(written: string | undefined, notes: SettingNote[]): string | undefined {
  const text = written?.trim().replace(/\/$/, '') ?? '';
  if (text === '') return undefined;
  if (isIssuerUrl(text) && URL.parse(text)?.pathname === '/') return text;
  notes.push({
    level: 'fatal',
    message: `GW_PUBLIC_URL is "${text}", which is not an address of the dashboard; write https:// and a host, http on loopback alone, and no path`,
  });
  return undefined;
}

function readAddress(name: string, written: string | undefined, notes: SettingNote[]): string | undefined {
  const text = written?.trim() ?? '';
  if (text === '') return undefined;
  if (isIP(text) === 0) notes.push({ level: 'fatal', message: `${name} is "${text}", which is not an IP address` });
  return text;
}

/** Whether both cannot have one port. `::`, which a listener without an address takes, holds the addresses of IPv4 too. */
function overlap(one: string | undefined, other: string): boolean {
  const holds = (all: string | undefined, address: string): boolean =>
    all === undefined || all === '::' || all === address || (all === '0.0.0.0' && isIP(address) === 4);
  return holds(one, other) || (one !== undefined && holds(other, one));
}

const isLoopback = (address: string): boolean => address.startsWith('127.') || address === '::1';
