import type { ApiKey } from '../../api/admin-wire.ts';
import type { Tone } from '../../lib/tones.ts';

export type KeyState = 'active' | 'expired' | 'revoked';

export const KEY_TONES: Readonly<Record<KeyState, Tone>> = { active: 'ok', expired: 'warn', revoked: 'bad' };

/** What a key is good for now: `active` alone does not say that it has expired. */
export function stateOf({ active, revoked_at, expires_at }: ApiKey, now: number): KeyState {
  if (!active || revoked_at !== undefined) return 'revoked';
  return expires_at !== undefined && Date.parse(expires_at) < now ? 'expired' : 'active';
}

const DAY_MS = 86_400_000;

export const EXPIRIES: readonly (readonly [days: string, label: string])[] = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '365 days'],
];

/** So many days from now, as the gateway reads moments. */
export function inDays(days: string, now: number): string {
  return new Date(now + Number(days) * DAY_MS).toISOString();
}

/** Names between commas. */
export function namesIn(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
