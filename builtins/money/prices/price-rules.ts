import type { Unpriced } from '../../../host/contract/index.ts';
import { levelName } from '../../../host/common/accounts/level.ts';
import type { KeyLimits } from '../../../host/common/host-principal.ts';
import type { GatewayConfig } from '../../../host/config/document.ts';
import { UNPRICED, unpricedOfBudgets, unpricedRule } from '../../../host/config/unpriced-rule.ts';

/** What becomes of requests without a price, and who says so. */
export interface PriceRule {
  readonly rule: Unpriced;
  readonly who: string;
}

/** Who asks for prices: each that has a budget in dollars, or a word of its own. The strictest word counts; of two that are alike the nearest. It is looked for once for each credential. */
export class PriceRules {
  readonly #config: Pick<GatewayConfig, 'money'>;
  readonly #known = new WeakMap<KeyLimits, { readonly rule: PriceRule | undefined }>();

  constructor(config: Pick<GatewayConfig, 'money'>) {
    this.#config = config;
  }

  /** `undefined` where none asks. */
  of(limits: KeyLimits): PriceRule | undefined {
    const known = this.#known.get(limits);
    if (known) return known.rule;
    const rule = priceRuleOf(limits, this.#config);
    this.#known.set(limits, { rule });
    return rule;
  }
}

/** `undefined` where none asks. */
export function priceRuleOf(
  { budget_usd: total, budgets = [], levels = [] }: KeyLimits,
  config: Pick<GatewayConfig, 'money'>,
): PriceRule | undefined {
  const rules: PriceRule[] = [];
  if (total !== undefined) rules.push({ rule: unpricedRule(config), who: 'the key' });
  if (budgets.some(({ usd }) => usd !== undefined)) rules.push({ rule: unpricedOfBudgets(config), who: 'the key' });
  for (const level of levels) {
    const isInDollars = [...level.budgets, ...level.sessionBudgets].some(({ unit }) => unit === 'usd');
    const rule = level.unpriced ?? (isInDollars ? unpricedOfBudgets(config) : undefined);
    if (rule) rules.push({ rule, who: levelName(level) });
  }
  return UNPRICED.flatMap((word) => rules.find(({ rule }) => rule === word) ?? [])[0];
}
