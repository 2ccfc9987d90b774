import { GatewayError } from '../../host/contract/index.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import type { Generation } from '../../host/generation/generation.ts';
import type { Host } from '../../host/host.ts';
import type { ForwardedApi } from '../../host/wire/forwarded-api.ts';
import { connectedTo, type Destination, hasResponses, requireForwarding } from './destination.ts';

/** Routes that are sent on by the same rules. */
export interface Family {
  readonly surface: 'passthrough' | 'responses';
  /** Bytes that a body may have. */
  readonly isUncapped: boolean;
  /** `request_timeout` bounds the time to the headers of the answer alone. */
  readonly isTimedToHeaders: boolean;
  /** Requests of the Responses API that name their model: it is written as the provider knows it. */
  readonly asks?: 'response' | 'compaction' | 'count';
  /** What its log rows say of the client, where the path belongs to an API of a wire of its own. */
  readonly api?: ForwardedApi;
  /** Always the same target; without it the request says which, by `X-Provider` or its model. */
  readonly fixed?: (host: Host, generation: Generation) => Destination;
}

/** Every other path: for the provider that is named, or that owns the model. */
export const GENERIC: Family = { surface: 'passthrough', isUncapped: false, isTimedToHeaders: false };

const RESPONSES_API: ForwardedApi = { wire: 'responses', surface: 'responses' };

/** `POST /v1/responses`: the same, but its model is written as the provider knows it, and its usage is read. */
export const RESPONSES: Family = {
  surface: 'responses',
  isUncapped: true,
  isTimedToHeaders: false,
  asks: 'response',
  api: RESPONSES_API,
};

/** `POST /v1/responses/compact`: as the same. */
export const COMPACTION: Family = { ...RESPONSES, asks: 'compaction' };

/** `POST /v1/responses/input_tokens`: as the same, and nothing is spent. */
export const COUNT: Family = { ...RESPONSES, asks: 'count' };

/** Paths that name a family, and no id. */
export const NAMED_FAMILIES: ReadonlyMap<string, Family> = new Map([
  ['/v1/responses', RESPONSES],
  ['/v1/responses/compact', COMPACTION],
  ['/v1/responses/input_tokens', COUNT],
]);

/** Responses that exist, by their ids. */
export const STORED_RESPONSES: Family = {
  surface: 'passthrough',
  api: RESPONSES_API,
  isUncapped: true,
  isTimedToHeaders: true,
  fixed: (host, generation) => {
    const destination = declared(host, generation, 'responses_target');
    if (!destination)
      throw new GatewayError(
        'responses_not_configured',
        "responses by id need responses_target in the configuration, and its provider's credential",
      );
    requireForwarding(destination, hasResponses(destination));
    return destination;
  },
};

/** `/v1/files` and `/v1/batches`. */
export const FILES: Family = {
  surface: 'passthrough',
  isUncapped: true,
  isTimedToHeaders: true,
  fixed: (host, generation) => {
    const destination = declared(host, generation, 'batch_target');
    if (destination?.provider.module.batches !== true)
      throw new GatewayError(
        'batch_not_configured',
        'files and batches need a batch_target in the configuration whose provider has them, and its credential',
      );
    return destination;
  },
};

function declared(
  host: Host,
  { config, targets }: Generation,
  key: keyof Pick<GatewayConfig, 'batch_target' | 'responses_target'>,
): Destination | undefined {
  const target = targets.get(config[key] ?? '');
  return target && connectedTo(host, target);
}

const FILES_PATH = /^\/v1\/(?:files|batches)(?:\/|$)/i;
const STORED_PATH = /^\/v1\/responses\/./i;

/** By the path as upstreams may read it, so that none escapes the rules of its family by the way it is written. */
export function familyOf(readings: readonly string[]): Family {
  const [first = '', ...others] = readings;
  const named = others.length === 0 ? NAMED_FAMILIES.get(first) : undefined;
  if (named) return named;
  if (readings.some((path) => FILES_PATH.test(path))) return FILES;
  return readings.some((path) => STORED_PATH.test(path)) ? STORED_RESPONSES : GENERIC;
}
