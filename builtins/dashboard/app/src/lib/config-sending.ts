import { patchBetween } from '../../../../../host/config/patch/patch-between.ts';
import { redactedPaths } from './redaction.ts';

/** How a configuration that was edited is sent. */
export interface Sending {
  /** What is sent. */
  readonly written: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Only what changes is sent, so that what was withheld stays as it is. */
  readonly isPatch: boolean;
}

/** As a whole, as it was written; where it holds what was withheld, as what changes in the configuration that it was made of. */
export function sendingOf(base: unknown, edited: unknown, written: string): Sending {
  if (redactedPaths(edited).length === 0) return { written, headers: {}, isPatch: false };
  const { operations } = patchBetween(base, edited);
  return {
    written: JSON.stringify(operations),
    headers: { 'Content-Type': 'application/json-patch+json' },
    isPatch: true,
  };
}

/** Paths of what stands for a withheld value where there was none, or another one. */
export const misplacedMarkers = (base: unknown, edited: unknown): readonly string[] =>
  redactedPaths(edited).length === 0 ? [] : patchBetween(base, edited).problems;

/** Where a configuration is sent that is to be in force: browsers may not send PATCH from another origin. */
export const placeOf = ({ isPatch }: Sending): { readonly path: string; readonly method: 'POST' | 'PUT' } =>
  isPatch ? { path: '/admin/config/patch', method: 'POST' } : { path: '/admin/config', method: 'PUT' };
