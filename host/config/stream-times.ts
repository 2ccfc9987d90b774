import { parseDuration } from '../contract/duration.ts';
import type { GatewayConfig } from './document.ts';

/** When a stream says that it goes on. */
export interface StreamTimes {
  /** Milliseconds without a byte after which a stream says that it goes on; `undefined`: never. */
  readonly keepAliveMs: number | undefined;
  /** Milliseconds after the first call of a provider at which a stream without a chunk is opened; `undefined`: never. */
  readonly openAfterMs: number | undefined;
}

type Streaming = GatewayConfig['streaming'];

const KEEP_ALIVE = '15s';
/** Below the 60 s after which proxies give up, and longer than nearly all models need to their first chunk. */
const OPEN_AFTER = '45s';
const LEAST_MS = 1000;
const MOST_MS = 60_000;

/** Milliseconds; 0 for `off`; `undefined` for what is not allowed. */
export function streamTime(text: string): number | undefined {
  const ms = text === 'off' ? 0 : parseDuration(text);
  return ms === 0 || (ms !== undefined && ms >= LEAST_MS && ms <= MOST_MS) ? ms : undefined;
}

/** The times of a configuration that the checks have taken. Without keep-alives a stream is opened only where that is written. */
export function streamTimesOf({ keepalive, open_after: openAfter }: Streaming): StreamTimes {
  const keepAliveMs = streamTime(keepalive || KEEP_ALIVE) || undefined;
  const openAfterMs = streamTime(openAfter || (keepAliveMs === undefined ? 'off' : OPEN_AFTER)) || undefined;
  return { keepAliveMs, openAfterMs };
}

/** Whether streams are opened early, and then left silent. */
export function saysNothing(streaming: Streaming): boolean {
  const { keepAliveMs, openAfterMs } = streamTimesOf(streaming);
  return keepAliveMs === undefined && openAfterMs !== undefined;
}
