import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';
import buildConnect from 'undici/lib/core/connect.js';

/** How a way is opened: the options and the callback of undici's connector. */
export type Open = (options: buildConnector.Options, callback: buildConnector.Callback) => Socket | undefined;

/** Whatever NODE_TLS_REJECT_UNAUTHORIZED says; it bounds no time by itself. */
export const CONNECTING = { allowH2: false, timeout: 0, rejectUnauthorized: true } as const;

/** Calls that are not of a declared instance: straight to the upstream, to any address. */
export function plainWay(): Open {
  return buildConnect(CONNECTING);
}
