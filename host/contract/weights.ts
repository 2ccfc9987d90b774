/**
 * Index of the element that a draw falls on: the first whose cumulative weight exceeds `draw` times
 * the sum. Elements of weight 0 or less are drained and never come; -1 when all are. `draw` is
 * uniform in [0, 1).
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
