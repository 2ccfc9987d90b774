import { parseDuration } from '../contract/duration.ts';
import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

const DEFAULT_SHUTDOWN_MS = 15_000;
const MAX_DRAIN_DELAY_MS = 300_000;

/** How the process ends. */
export interface EndingSettings {
  /** How long requests in flight may take once the process drains. */
  readonly shutdownTimeoutMs: number;
  /** How long requests are served as before once the process has been asked to end, while readiness says that it ends. */
  readonly drainDelayMs: number;
}

const trimmed = (text: string | undefined): string => text?.trim() ?? '';

/** What is written at the end, after the last request, may take so long. */
const LAST_WRITES_MS = 15_000;

/** How the process ends, and whether what started it gives it the time. */
export function readEnding(variables: Variables, notes: SettingNote[]): EndingSettings {
  const shutdownTimeoutMs = readShutdownTimeout(variables['GW_SHUTDOWN_TIMEOUT'], notes);
  const drainDelayMs = readDrainDelay(variables['GW_DRAIN_DELAY'], notes);
  const grace = trimmed(variables['GW_GRACE_PERIOD']);
  const graceMs = parseDuration(grace);
  const neededMs = drainDelayMs + shutdownTimeoutMs + LAST_WRITES_MS;
  if (grace !== '' && graceMs === undefined)
    notes.push({
      level: 'warn',
      rule: 'WN71',
      message: `GW_GRACE_PERIOD is "${grace}", which is not a duration; it is ignored`,
    });
  if (graceMs !== undefined && neededMs > graceMs)
    notes.push({
      level: 'warn',
      rule: 'WN71',
      message: `GW_DRAIN_DELAY, GW_SHUTDOWN_TIMEOUT and 15s are ${neededMs / 1000}s together, and GW_GRACE_PERIOD is ${grace}: what still runs then is killed; raise the grace period, or lower the timeout`,
    });
  return { shutdownTimeoutMs, drainDelayMs };
}

function readShutdownTimeout(text: string | undefined, notes: SettingNote[]): number {
  const written = trimmed(text);
  if (written === '') return DEFAULT_SHUTDOWN_MS;
  const ms = parseDuration(written);
  if (ms !== undefined && ms >= 0) return ms;
  notes.push({ level: 'warn', message: `GW_SHUTDOWN_TIMEOUT is "${written}", which is not a duration; 15s is used` });
  return DEFAULT_SHUTDOWN_MS;
}

function readDrainDelay(text: string | undefined, notes: SettingNote[]): number {
  const written = trimmed(text);
  if (written === '') return 0;
  const ms = parseDuration(written);
  if (ms !== undefined && ms >= 0 && ms <= MAX_DRAIN_DELAY_MS) return ms;
  notes.push({
    level: 'warn',
    message: `GW_DRAIN_DELAY is "${written}", which is not a duration of at most 5m; 0s is used`,
  });
  return 0;
}
