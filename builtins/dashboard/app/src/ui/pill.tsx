import type { ReactNode } from 'react';
import type { Tone } from '../lib/tones.ts';

export type { Tone };

/** A word about a state. Its colour says nothing that the word does not. */
export function Pill({
  tone = 'neutral',
  hasDot = false,
  children,
}: {
  readonly tone?: Tone;
  readonly hasDot?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <span className="pill" data-tone={tone}>
      {hasDot && <span className="dot" data-tone={tone} aria-hidden="true" />}
      {children}
    </span>
  );
}
