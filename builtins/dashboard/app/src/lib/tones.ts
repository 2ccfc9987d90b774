import type { Tone } from '../ui/pill.tsx';

const COMPONENTS: Readonly<Record<string, Tone>> = { healthy: 'ok', available: 'ok', unavailable: 'bad', disabled: 'neutral' };

/** A status of a newer gateway is neutral. */
export function componentTone(status: string): Tone {
  return COMPONENTS[status] ?? 'neutral';
}
