import { raisedBy } from '../../host/common/accounts/raise.ts';
import type { Unpriced } from '../../host/contract/index.ts';
import type { Unit } from '../../host/common/budgets/key-budget.ts';
import type { HostPrincipal, KeyLimits } from '../../host/common/host-principal.ts';
import type { GatewayConfig } from '../../host/config/document.ts';
import { UNPRICED, unpricedOfBudgets, unpricedRule } from '../../host/config/unpriced-rule.ts';
import type { Ledgers, Spent } from '../../host/stores/ledgers/ledgers.ts';
import { BudgetLevels } from './budget-levels.ts';
import { OpenBudgets, type Raises } from './open-budgets.ts';

/** A budget as the holder of a key sees it: dollars, tokens or requests. */
export interface OwnBudget {
  readonly of: 'key' | 'account' | 'tag';
  readonly name: string;
  readonly unit: Unit;
  readonly every: string;
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly remaining: number;
  readonly begins_at?: string;
  readonly ends_at?: string;
}

/** Ledgers as `builtins/money/key-budget.ts` opens them. */
const TOTALS = 'key budgets';
const WINDOWS = 'budgets';

const MICRO = 1e6;

/** What binds a key, and what of it is left. It asks memory, as admission does. */
export class OwnBudgets {
  readonly #ledgers: () => Ledgers;
  readonly #windows: OpenBudgets;
  readonly #raises: () => Raises | undefined;
  readonly #levels = new BudgetLevels();

  constructor(ledgers: () => Ledgers, raises: () => Raises | undefined) {
    this.#ledgers = ledgers;
    this.#raises = raises;
    this.#windows = new OpenBudgets(raises);
  }

  /** In the order in which a request asks them. `name` is what the key is called. */
  of(principal: HostPrincipal, name: string, now: number): readonly OwnBudget[] {
    const { id, limits = {} } = principal;
    const { budget_usd: total } = limits;
    const ledgers = this.#ledgers();
    const raised = raisedBy(this.#raises()?.raisesOf(id) ?? [], 'usd', 'total', now);
    return [
      ...(total === undefined
        ? []
        : [
            {
              of: 'key',
              name,
              unit: 'usd',
              every: 'total',
              ...left('usd', total * MICRO + raised, ledgers.peek(TOTALS, id)),
            } as const,
          ]),
      ...this.#windows
        .at(now, this.#levels.of(principal))
        .map(({ owner, name: account, unit, limit, rule, ruleName, window }) => ({
          of: owner.kind,
          name: owner.kind === 'key' ? name : owner.id,
          unit,
          every: ruleName,
          ...left(unit, limit, ledgers.peek(WINDOWS, account)),
          ...(rule.kind === 'total' ? {} : { begins_at: moment(window.beginsAt), ends_at: moment(window.endsAt) }),
        })),
    ];
  }
}

/** What becomes of requests without a price: the strictest word of what binds the key. */
export function unpricedWord(
  { budget_usd: total, budgets = [], levels = [] }: KeyLimits,
  config: Pick<GatewayConfig, 'money'>,
): Unpriced {
  const words = new Set([
    ...(budgets.some(({ usd }) => usd !== undefined) ? [unpricedOfBudgets(config)] : []),
    ...(total === undefined ? [] : [unpricedRule(config)]),
    ...levels.flatMap(
      ({ unpriced, budgets: own }) =>
        unpriced ?? (own.some(({ unit }) => unit === 'usd') ? unpricedOfBudgets(config) : []),
    ),
  ]);
  return UNPRICED.find((word) => words.has(word)) ?? 'allow';
}

type Left = Pick<OwnBudget, 'limit' | 'spent' | 'reserved' | 'remaining'>;

/** Whole units: what is held of one that is begun counts as one. */
function left(unit: Unit, limit: number, { committed, reserved }: Spent): Left {
  const [most, held] = [Math.round(limit), Math.ceil(reserved)];
  const shown = (amount: number): number => (unit === 'usd' ? amount / MICRO : amount);
  return {
    limit: shown(most),
    spent: shown(committed),
    reserved: shown(held),
    remaining: shown(Math.max(0, most - committed - held)),
  };
}

const moment = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');
