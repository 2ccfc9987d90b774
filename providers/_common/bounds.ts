import type { Fields } from './fields.ts';

/** The least and the most that a vendor takes of a field. */
export type Bounds = Readonly<Record<string, readonly [least: number, most: number]>>;

export interface Bounded {
  /** The fields that do not travel as they are, with the nearest value that is taken. */
  readonly fields: Fields;
  readonly names: readonly string[];
}

/** Numbers outside of what a vendor takes. */
export function outOfBounds(fields: Fields, bounds: Bounds): Bounded {
  const changed = Object.entries(bounds).flatMap(([name, [least, most]]): (readonly [string, number])[] => {
    const value = fields[name];
    if (typeof value !== 'number' || (value >= least && value <= most)) return [];
    return [[name, Math.min(Math.max(value, least), most)]];
  });
  return { fields: Object.fromEntries(changed), names: changed.map(([name]) => name) };
}
