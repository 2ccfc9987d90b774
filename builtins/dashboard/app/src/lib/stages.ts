import type { Tone } from './tones.ts';

const NAMES: Readonly<Record<string, string>> = {
  before_request: 'Before request',
  after_request: 'Answered',
  on_error: 'Failed',
};
const TONES: Readonly<Record<string, Tone>> = { after_request: 'ok', on_error: 'bad' };

/** What became of a request at this stage; a stage of a newer gateway by its own name. */
export function stageName(stage: string): string {
  return NAMES[stage] ?? stage;
}

/** An answer with an error text was refused after it came. */
export function stageTone(stage: string, errorMessage = ''): Tone {
  if (errorMessage !== '') return 'bad';
  return TONES[stage] ?? 'neutral';
}

export const STAGES = ['before_request', 'after_request', 'on_error'] as const;
