import type { Tone } from '../lib/tones.ts';

/** What is shown of a credential, on every page: the words of a state of a newer gateway are its own. */
export interface ShownCredential {
  readonly name: string;
  readonly state: string;
  readonly class?: string | null;
  /** When the state ends, RFC 3339. */
  readonly until?: string | null;
  readonly models_resting?: number;
  readonly weight?: number;
}

const TONES: Readonly<Record<string, Tone>> = { ready: 'ok', resting: 'warn', benched: 'bad', unresolved: 'bad' };
const CLASSES: Readonly<Record<string, string>> = {
  rate: 'rate limit',
  billing: 'no credit',
  invalid_key: 'key refused',
  no_access: 'no access to a model',
};

export const credentialTone = ({ state, weight }: ShownCredential): Tone =>
  weight === 0 ? 'neutral' : (TONES[state] ?? 'neutral');

export const classText = (name: string): string => CLASSES[name] ?? name;

/** `benched, key refused, 9 min left`. */
export function credentialText(credential: ShownCredential, now: number): string {
  const { state, class: why, until, models_resting: models = 0, weight } = credential;
  const end = until ? Date.parse(until) : Number.NaN;
  return [
    state,
    why ? classText(why) : '',
    models > 1 ? `${models} models` : '',
    Number.isNaN(end) ? '' : leftText(end - now),
    weight === 0 && state !== 'drained' ? 'takes no new calls' : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** How long a state lasts, in its largest unit, of hours with the minutes. */
export function leftText(milliseconds: number): string {
  const seconds = Math.ceil(milliseconds / 1000);
  if (seconds <= 0) return 'tried next';
  if (seconds < 60) return `${seconds} s left`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return `${minutes} min left`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

/** Whether something keeps it from calls that a reset would end. */
export const isKept = ({ state }: ShownCredential): boolean => state === 'resting' || state === 'benched';
