import { DEFAULT_MAX_REQUEST_BYTES } from '../../host/config/document.ts';
import type { Host } from '../../host/host.ts';
import type { JsonCall } from '../../host/http/json-route.ts';
import { storable } from './query.ts';

/** What the configuration in force allows a body. */
export function mostBytes(host: Pick<Host, 'current'>): () => number {
  return () => host.current?.maxRequestBytes ?? DEFAULT_MAX_REQUEST_BYTES;
}

/** The id in the path. */
export function targetId({ parameter }: JsonCall): string {
  return storable(parameter('id'));
}
