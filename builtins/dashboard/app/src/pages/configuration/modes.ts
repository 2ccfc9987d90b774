/** Strategies that every gateway has; another may be typed. */
export const MODES: readonly string[] = [
  'single',
  'fallback',
  'loadbalance',
  'least-latency',
  'cost-optimized',
  'conditional',
  'content-based',
  'ab-test',
];
