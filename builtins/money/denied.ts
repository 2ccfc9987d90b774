import { durationName } from '../../host/common/budgets/windows.ts';
import { timestamp } from '../../host/common/timestamps.ts';
import type { Denial } from './asked-budgets.ts';
import type { OpenBudget } from './open-budgets.ts';

/** Why a request is refused, for people: the budget is spent, or the call does not fit into what is left of it. */
export function deniedMessage({ budget, committed, reserved, amount = 0 }: Denial): string {
  const { owner, unit, limit, rule, window, overrun } = budget;
  const every = rule.kind === 'duration' ? durationName(rule.minutes) : `the ${rule.kind}`;
  const [during, again] =
    rule.kind === 'total' ? ['', ''] : [` for ${every}`, `; it begins again at ${timestamp(window.endsAt)}`];
  const of = `of ${unit === 'usd' ? dollars(limit) : `${limit} ${unit}`}`;
  if (overrun === 'one' || committed >= limit)
    return `the budget of ${owner.name}${during} is spent: ${shown(unit, committed)} ${of}${again}`;
  const left = Math.max(0, Math.floor(limit - committed - reserved));
  const needs = unit === 'usd' ? `may cost ${dollars(Math.ceil(amount))}` : `may need ${Math.ceil(amount)} ${unit}`;
  return `the budget of ${owner.name}: the call ${needs}, and ${shown(unit, left)} ${of} ${unit === 'usd' ? 'is' : 'are'} left${during}${again}`;
}

/** Says it for programs, as a dictionary of RFC 9651. */
export function deniedHeader({
  budget: { owner, unit, limit, rule, window },
  committed,
}: Pick<Denial, 'budget' | 'committed'>): string {
  const who = owner.kind === 'session' ? 'kind=session' : `kind=${owner.kind}, id="${owner.id}"`;
  const facts = `${who}, unit=${unit}, window=${rule.kind}, spent=${committed}, limit=${limit}`;
  return rule.kind === 'total' ? facts : `${facts}, ends=${Math.ceil(window.endsAt / 1000)}`;
}

const shown = (unit: OpenBudget['unit'], amount: number): string => (unit === 'usd' ? dollars(amount) : String(amount));

/** From two to six decimals, and never rounded. */
function dollars(micro: number): string {
  const whole = Math.floor(micro / 1e6);
  const parts = String(micro - whole * 1e6)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `$${whole}.${parts}`;
}
