/**
 * Index of the element that a draw falls on: the first whose cumulative weight exceeds `draw` times
 * the sum. Elements of weight 0 or less are drained and never come; -1 when all are. `draw` is
 * uniform in [0, 1). Weights need not add up to anything: 1 and 3 divide as 25 and 75 do.
 *
 * @param weights one for each element, in the order of the list that the index is for.
 * @param draw from `deps.random`, so that tests can decide it.
 * @returns the index, never of an element without weight; rounding at the upper end falls to the
 * last that has one.
 * @example
 * ```ts
 * import { drawByWeight, type RouteTarget } from 'gw/contract';
 *
 * export function drawn(targets: readonly RouteTarget[], random: () => number): RouteTarget | undefined {
 *   return targets[drawByWeight(targets.map(({ weight }) => weight), random())]; // undefined at -1
 * }
 * ```
 */
export function drawByWeight(weights: readonly number[], draw: number): number {
  let total = 0;
  for (const weight of weights) if (weight > 0) total += weight;
  const point = draw * total;
  let sum = 0;
  let last = -1;
  for (let at = 0; at < weights.length; at += 1) {
    const weight = weights[at] ?? 0;
    if (weight <= 0) continue;
    sum += weight;
    if (sum > point) return at;
    last = at; // rounding may leave the point at the very sum
  }
  return last;
}
