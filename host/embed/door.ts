import type { IncomingMessage } from 'node:http';
import type { App, Serving } from '../http/app.ts';
import type { Gateway, GatewayOptions } from './gateway.ts';

/** What of a gateway meets requests. */
type Door = Pick<Gateway, 'handler' | 'upgrade'>;

/** Where Express mounts what it calls; nothing for `node:http`. */
interface Mounted extends IncomingMessage {
  readonly baseUrl?: string;
}

/** Lets in what is the gateway's, and passes on what is not. */
export function doorOf(app: App, { planes = ['data'], mountPath = '/' }: GatewayOptions): Door {
  const hasControl = planes.includes('control');
  const serving = hasControl ? app : app.of('data');
  const mayServe = (request: IncomingMessage): boolean => serving.knows(request) || (hasControl && mayBePage(request));
  return {
    handler: (request, response, next) => {
      if (next && !mayServe(request)) next();
      else serving.serve(request, response);
    },
    upgrade: (request, _socket, head) => takeUpgrade(serving, { request, head, mountPath }),
  };
}

/** The dashboard names its files from the root, so it stands there or nowhere. */
const mayBePage = ({ method, baseUrl = '' }: Mounted): boolean =>
  baseUrl === '' && (method === 'GET' || method === 'HEAD');

interface AskedUpgrade {
  readonly request: IncomingMessage;
  readonly head: Buffer;
  readonly mountPath: string;
}

function takeUpgrade({ upgrades }: Serving, { request, head, mountPath }: AskedUpgrade): boolean {
  const { url = '' } = request;
  const mount = mountPath.replace(/\/$/, '');
  if (!url.startsWith(`${mount}/`)) return false;
  request.url = url.slice(mount.length);
  if (upgrades.isSpoken && upgrades.accepts(request)) {
    upgrades.take(request, request.socket, head);
    return true;
  }
  request.url = url;
  return false;
}
