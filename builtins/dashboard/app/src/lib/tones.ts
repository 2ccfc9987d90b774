/** How a state is coloured. Its colour says nothing that its name does not. */
export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'accent';

const COMPONENTS: Readonly<Record<string, Tone>> = {
  healthy: 'ok',
  available: 'ok',
  unavailable: 'bad',
  disabled: 'neutral',
};

/** A status of a newer gateway is neutral. */
export function componentTone(status: string): Tone {
  return COMPONENTS[status] ?? 'neutral';
}

/** A tool server that is not ready: without a required one no request is taken, without another one its tools are missing. */
export function serverTone({ ready, required }: { readonly ready: boolean; readonly required: boolean }): Tone {
  if (ready) return 'ok';
  return required ? 'bad' : 'warn';
}
