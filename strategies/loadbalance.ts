import Joi from 'joi';
import {
  defineStrategy,
  drawByWeight,
  type RankNotes,
  type RouteTarget,
  type StrategyPlace,
  type StrategyProblem,
  type StrategyTarget,
  TOP_LEVEL,
} from 'gw/contract';

/** A weighted random target first, the others after it in rotation. See docs/reference/governance.md#weights. */
export default defineStrategy({
  name: 'loadbalance',
  summary: 'Spreads requests over the targets by weight; one of weight 0 gets none',
  advances: true,
  sessions: 'spread',
  settings: Joi.object({}),
  settingsFrom: [],
  check: (_settings, targets, place = TOP_LEVEL) => [...negativeWeights(targets, place), ...noWeight(targets, place)],
  create:
    (_settings, { random }) =>
    (targets, _query, notes) => {
      const open = targets.filter(({ serves, weight }) => serves && weight > 0);
      const draw = random();
      const start = drawByWeight(
        open.map(({ weight }) => weight),
        draw,
      );
      if (notes?.target) explain(targets, open, start, draw, notes);
      return start <= 0 ? open : open.slice(start).concat(open.slice(0, start));
    },
});

function negativeWeights(
  targets: readonly StrategyTarget[],
  { targets: list, entry }: StrategyPlace,
): readonly StrategyProblem[] {
  return targets.flatMap(({ virtualKey, weight }, index) => {
    if (weight >= 0) return [];
    return [
      {
        path: `${list}[${index}].weight`,
        rule: 'CV14',
        message: `weight of ${entry} "${virtualKey}" is ${weight}`,
        fix: `write a share, or 0 to drain the ${entry}`,
      },
    ];
  });
}

function noWeight(
  targets: readonly StrategyTarget[],
  { targets: list, entry }: StrategyPlace,
): readonly StrategyProblem[] {
  if (targets.reduce((sum, { weight }) => sum + weight, 0) > 0) return [];
  return [
    {
      path: list,
      rule: 'CV15',
      message: `${entry} weights sum to zero; at least one must be positive`,
      fix: `give a weight to each ${entry} that is to get traffic`,
    },
  ];
}

function explain(
  targets: readonly RouteTarget[],
  open: readonly RouteTarget[],
  start: number,
  draw: number,
  notes: RankNotes,
): void {
  const total = open.reduce((sum, { weight }) => sum + weight, 0);
  for (const { virtualKey, weight } of targets)
    if (weight <= 0) notes.target?.(virtualKey, 'drained: its weight is 0', { weight });
  open.forEach(({ virtualKey, weight }, at) => {
    const figures = { weight, share: weight / total };
    if (at === start) notes.target?.(virtualKey, 'drawn by weight', { ...figures, draw });
    else notes.target?.(virtualKey, 'follows in rotation', figures);
  });
}
