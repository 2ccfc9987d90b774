export interface Mode {
  readonly mode: string;
  readonly summary: string;
  readonly onFailure: string;
}

/** The strategies that every gateway has. Source: docs/strategies.md. */
export const MODES: readonly Mode[] = [
  { mode: 'single', summary: 'Sends every request to the first target.', onFailure: 'error' },
  { mode: 'fallback', summary: 'Tries the targets in the order they are declared.', onFailure: 'next target' },
  {
    mode: 'loadbalance',
    summary: 'Spreads requests over the targets by weight; one of weight 0 gets none.',
    onFailure: 'next target',
  },
  {
    mode: 'least-latency',
    summary: 'Tries the target with the lowest recent median latency first. A target that was not measured yet leads.',
    onFailure: 'next target',
  },
  {
    mode: 'cost-optimized',
    summary: 'Tries the target with the lowest expected price of the request first.',
    onFailure: 'next target',
  },
  {
    mode: 'conditional',
    summary: 'Chooses the target by rules on the model or on request metadata.',
    onFailure: 'error',
  },
  { mode: 'content-based', summary: 'Chooses the target by rules on what the user wrote.', onFailure: 'error' },
  {
    mode: 'ab-test',
    summary: 'Splits requests over labelled variants by weight; one of weight 0 gets none.',
    onFailure: 'next target',
  },
];
