import { parseDuration } from '../contract/duration.ts';

/** Milliseconds of a duration that the checks have taken; `undefined` without one. */
export function durationOf(text: string | undefined): number | undefined {
  return text ? parseDuration(text) : undefined;
}
