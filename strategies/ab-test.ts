import Joi from 'joi';
import {
  defineStrategy,
  drawByWeight,
  type RankNotes,
  type RouteTarget,
  type StrategyProblem,
  targetKeyProblem,
  targetNames,
  TOP_LEVEL,
} from 'gw/contract';

interface Variant {
  target_key: string;
  weight: number;
  label: string;
}

interface Settings {
  ab_variants: Variant[];
}

const text = (meaning: string): Joi.StringSchema => Joi.string().allow('').default('').description(meaning);

/** A weighted random variant first, the other variants behind it. Targets that are not a variant get no requests. See docs/reference/governance.md#weights. */
export default defineStrategy<Settings>({
  name: 'ab-test',
  summary: 'Splits requests over labelled variants by weight; one of weight 0 gets none',
  advances: true,
  sessions: 'repeatable',
  settings: Joi.object<Settings, true>({
    ab_variants: Joi.array()
      .items(
        Joi.object<Variant, true>({
          target_key: text('the target of the variant: a declared `virtual_key`'),
          weight: Joi.number().default(0).description('its share; 0 drains it, and not all may be 0'),
          label: text("its name in logs and figures; without one, its target's"),
        }),
      )
      .default([])
      .description(
        'variants, at least one: `target_key`, `weight` (default 0, which drains it; not 0 for all) and `label`',
      ),
  }),
  settingsFrom: ['ab_variants'],
  check: ({ ab_variants: variants }, targets, { strategy, entry } = TOP_LEVEL) => {
    const list = `${strategy}.ab_variants`;
    if (variants.length === 0)
      return [problem(list, 'ab-test has no ab_variants', 'write at least one, or use another mode')];
    const names = targetNames(targets);
    const each = variants.flatMap((variant, index) => {
      const path = `${list}[${index}]`;
      const negative =
        variant.weight < 0
          ? [
              problem(
                `${path}.weight`,
                `weight of ab variant "${nameOf(variant)}" is ${variant.weight}`,
                'write a share, or 0 to drain the variant',
              ),
            ]
          : [];
      return [
        ...targetKeyProblem(variant.target_key, names, { path: `${path}.target_key`, rule: 'CV18b', entry }),
        ...negative,
      ];
    });
    if (variants.reduce((sum, { weight }) => sum + weight, 0) > 0) return each;
    return [
      ...each,
      problem(
        list,
        'ab_variants weights sum to zero; at least one must be positive',
        'give a weight to each variant that is to get traffic',
      ),
    ];
  },
  create: ({ ab_variants: variants }, { random }) => {
    const open = variants.filter(({ weight }) => weight > 0);
    return (targets, query, notes) => {
      const byKey = new Map(targets.map((target) => [target.virtualKey, target]));
      const weights = open.map(({ target_key, weight }) => (byKey.get(target_key)?.serves ? weight : 0));
      const draw = query.random ?? random();
      const drawn = open[drawByWeight(weights, draw)];
      if (notes?.target) explain(targets, { variants, open, weights, drawn, draw }, notes);
      if (!drawn) return [];
      notes?.variant?.(nameOf(drawn));
      const order = new Set([drawn, ...open].map(({ target_key }) => target_key)); // variants may share a target
      return [...order].flatMap((key) => byKey.get(key) ?? []);
    };
  },
});

/** Without a label a variant goes by its target. */
const nameOf = ({ label, target_key }: Variant): string => label || target_key;

function problem(path: string, message: string, fix: string): StrategyProblem {
  return { path, rule: 'CV18b', message, fix };
}

interface Drawn {
  readonly variants: readonly Variant[];
  readonly open: readonly Variant[];
  /** Weights of the open variants, 0 where the target does not serve. */
  readonly weights: readonly number[];
  readonly drawn: Variant | undefined;
  readonly draw: number;
}

function explain(
  targets: readonly RouteTarget[],
  { variants, open, weights, drawn, draw }: Drawn,
  notes: RankNotes,
): void {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  for (const { virtualKey } of targets) {
    const own = variants.filter(({ target_key }) => target_key === virtualKey);
    const live = own.filter((variant) => open.includes(variant));
    const weight = live.reduce((sum, variant) => sum + variant.weight, 0);
    const share =
      open.reduce((sum, variant, at) => sum + (variant.target_key === virtualKey ? (weights[at] ?? 0) : 0), 0) /
      (total || 1);
    if (own.length === 0) notes.target?.(virtualKey, 'it is not a variant');
    else if (live.length === 0) notes.target?.(virtualKey, 'drained: its weight is 0', { weight });
    else if (drawn?.target_key === virtualKey)
      notes.target?.(virtualKey, `variant "${nameOf(drawn)}" drawn by weight`, { weight, share, draw });
    else notes.target?.(virtualKey, 'another variant', { weight, share });
  }
}
