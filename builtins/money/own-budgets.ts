import { raisedBy } from '../../host/common/accounts/raise.ts';
import { SESSIONS, shownAmount, TOTALS, WINDOWS } from '../../host/common/budgets/counted-sum.ts';
import type { Unit } from '../../host/common/budgets/key-budget.ts';
import type { HostPrincipal, KeyLimits } from '../../host/common/host-principal.ts';
import { timestamp } from '../../host/common/timestamps.ts';
import type { Ledgers, Spent } from '../../host/stores/ledgers/ledgers.ts';
import { BudgetLevels } from './budget-levels.ts';
import { OpenBudgets, type Raises } from './open-budgets.ts';
import { ofSession } from './session-budgets.ts';

/** A budget as the holder of a key sees it: dollars, tokens or requests. */
export interface OwnBudget {
  readonly of: 'key' | 'session' | 'account' | 'tag';
  /** A session has none. */
  readonly name?: string;
  readonly unit: Unit;
  readonly every: string;
  readonly limit: number;
  readonly spent: number;
  readonly reserved: number;
  readonly remaining: number;
  readonly begins_at?: string;
  readonly ends_at?: string;
}

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

  /** In the order in which a request asks them. */
  of(
    { id, name, session }: Pick<HostPrincipal, 'id' | 'name'> & { readonly session?: string | undefined },
    limits: KeyLimits,
    now: number,
  ): readonly OwnBudget[] {
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
      ...ofSession(this.#windows.at(now, this.#levels.of(id, limits)), { principal: { id }, sessionId: session }).map(
        ({ owner, name: account, unit, limit, rule, ruleName, window }) => ({
          of: owner.kind,
          ...(owner.kind !== 'session' && { name: owner.kind === 'key' ? name : owner.id }),
          unit,
          every: ruleName,
          ...left(unit, limit, ledgers.peek(owner.kind === 'session' ? SESSIONS : WINDOWS, account)),
          ...(rule.kind === 'total'
            ? {}
            : { begins_at: timestamp(window.beginsAt), ends_at: timestamp(window.endsAt) }),
        }),
      ),
    ];
  }
}

type Left = Pick<OwnBudget, 'limit' | 'spent' | 'reserved' | 'remaining'>;

/** Whole units: what is held of one that is begun counts as one. */
function left(unit: Unit, limit: number, { committed, reserved }: Spent): Left {
  const [most, held] = [Math.round(limit), Math.ceil(reserved)];
  return {
    limit: shownAmount(unit, most),
    spent: shownAmount(unit, committed),
    reserved: shownAmount(unit, held),
    remaining: shownAmount(unit, Math.max(0, most - committed - held)),
  };
}
