import type { BudgetFacts } from '../../host/common/budgets/key-budget.ts';
import { durationName, type Window, Windows } from '../../host/common/budgets/windows.ts';
import type { BudgetLevel, BudgetOwner } from './budget-levels.ts';

/** A budget in the window that runs. */
export interface OpenBudget extends BudgetFacts {
  readonly owner: BudgetOwner;
  /** What its sum is kept under: owner, unit, rule and window are part of it. */
  readonly name: string;
  readonly window: Window;
}

interface Known {
  readonly budgets: readonly { readonly owner: BudgetOwner; readonly facts: BudgetFacts; readonly windows: Windows }[];
  open: readonly OpenBudget[];
  /** The windows run from the one moment until the other. */
  from: number;
  until: number;
}

/** The windows that run. They are looked for when one has ended, or the clock went back before one began; else it takes two comparisons. */
export class OpenBudgets {
  readonly #known = new WeakMap<readonly BudgetLevel[], Known>();

  at(now: number, levels: readonly BudgetLevel[]): readonly OpenBudget[] {
    const known = this.#known.get(levels) ?? this.#learn(levels);
    if (now < known.from || now >= known.until) reopen(known, now);
    return known.open;
  }

  #learn(levels: readonly BudgetLevel[]): Known {
    const known: Known = {
      budgets: levels.flatMap(({ owner, budgets }) =>
        budgets.map((facts) => ({ owner, facts, windows: new Windows(facts.rule) })),
      ),
      open: [],
      from: Number.POSITIVE_INFINITY,
      until: Number.NEGATIVE_INFINITY,
    };
    this.#known.set(levels, known);
    return known;
  }
}

function reopen(known: Known, now: number): void {
  known.open = known.budgets.map(({ owner, facts, windows }) => {
    const window = windows.at(now);
    const name = [owner.prefix, facts.unit, facts.ruleName, window.name].join('|');
    return { ...facts, owner, window, name };
  });
  known.from = known.open.reduce((latest, { window }) => Math.max(latest, window.beginsAt), Number.NEGATIVE_INFINITY);
  known.until = known.open.reduce((first, { window }) => Math.min(first, window.endsAt), Number.POSITIVE_INFINITY);
}

/** Why a request is refused, for people. `committed` in the unit of the budget. */
export function spentMessage({ owner, unit, limit, rule, window }: OpenBudget, committed: number): string {
  const [spent, of] = unit === 'usd' ? [dollars(committed), dollars(limit)] : [String(committed), `${limit} ${unit}`];
  const every = rule.kind === 'duration' ? durationName(rule.minutes) : `the ${rule.kind}`;
  const [during, again] =
    rule.kind === 'total' ? ['', ''] : [` for ${every}`, `; it begins again at ${moment(window.endsAt)}`];
  return `the budget of ${owner.name}${during} is spent: ${spent} of ${of}${again}`;
}

/** Says it for programs, as a dictionary of RFC 9651. */
export function spentHeader({ owner, unit, limit, rule, window }: OpenBudget, committed: number): string {
  const facts = `kind=${owner.kind}, id="${owner.id}", unit=${unit}, window=${rule.kind}, spent=${committed}, limit=${limit}`;
  return rule.kind === 'total' ? facts : `${facts}, ends=${Math.ceil(window.endsAt / 1000)}`;
}

/** From two to six decimals, and never rounded. */
function dollars(micro: number): string {
  const whole = Math.floor(micro / 1e6);
  const parts = String(micro - whole * 1e6)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `$${whole}.${parts}`;
}

const moment = (at: number): string => new Date(at).toISOString().replace('.000Z', 'Z');
