import type { ReactNode } from 'react';
import type { LucideIcon } from 'lucide-react';
import type { Tone } from './pill.tsx';

export interface TileProps {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly icon?: LucideIcon;
  readonly tone?: Tone;
}

/** One figure with its name. */
export function Tile({ label, value, note, icon: Icon, tone = 'neutral' }: TileProps) {
  return (
    <div className="tile" data-tone={tone}>
      <dt className="tile-label">
        {Icon && <Icon size={15} aria-hidden="true" />}
        {label}
      </dt>
      <dd className="tile-value">{value}</dd>
      {note !== undefined && <dd className="tile-note">{note}</dd>}
    </div>
  );
}

export function Tiles({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <dl className="tiles" aria-label={label}>
      {children}
    </dl>
  );
}
