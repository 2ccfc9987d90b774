import { GatewayError, quoted } from '../../../host/contract/index.ts';
import type { JsonCall } from '../../../host/http/json-route.ts';
import type { ConfigurationStore, ConfigurationVersion } from '../../../host/stores/configuration-store.ts';

/** The largest number that a version can have. */
const LARGEST = 2 ** 31 - 1;

/** The version that a path names. Throws `resource_not_found` for a text that no version can have. */
export function askedVersion(call: Pick<JsonCall, 'parameter'>): number {
  const asked = call.parameter('version');
  if (!/^[1-9]\d*$/.test(asked)) throw noVersion(asked);
  return Number(asked);
}

/** A version of the history with its text; `undefined` where it is not kept. */
export async function keptVersion(
  store: Pick<ConfigurationStore, 'history'>,
  version: number,
): Promise<ConfigurationVersion | undefined> {
  const [found] = await store.history({ before: Math.min(version, LARGEST - 1) + 1, limit: 1 });
  return found?.version === version ? found : undefined;
}

export function noVersion(asked: string): GatewayError {
  return new GatewayError('resource_not_found', `the history has no version ${quoted(asked)}`);
}
