import { type Naming, type Shape } from './bodies.ts';

/** The figures of a row, in the order of the table; more is better for the first, less for all others. */
export const FIGURES = {
  requestsPerSecond: { title: 'req/s', digits: 0 },
  cpuPerRequest: { title: 'CPU µs/req', digits: 1 },
  cpuPerChunk: { title: 'CPU µs/chunk', digits: 2 },
  addedP50: { title: 'added p50 µs', digits: 0 },
  addedP99: { title: 'added p99 µs', digits: 0 },
  peakMb: { title: 'peak RSS MB', digits: 0 },
  readyMs: { title: 'ready ms', digits: 0 },
} as const satisfies Readonly<Record<string, { title: string; digits: number }>>;

export type Figure = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly Figure[];

/** `null`: there is no such figure, as with chunks of an answer in one piece. */
export type Values = Readonly<Record<Figure, number | null>>;

export interface Row {
  readonly shape: Shape;
  readonly naming: Naming;
  readonly subject: string;
  readonly values: Values;
  /** Each value divided by the floor's; `null` where the floor's is not above zero, as noise can make an added latency. */
  readonly ratios: Values;
}

export function median(samples: readonly number[]): number {
  const sorted = [...samples].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function ratiosTo(base: Values, values: Values): Values {
  const ratio = (figure: Figure): number | null => {
    const [value, unit] = [values[figure], base[figure]];
    return value === null || unit === null || unit <= 0 ? null : value / unit;
  };
  return Object.fromEntries(FIGURE_NAMES.map((figure) => [figure, ratio(figure)])) as Values;
}
