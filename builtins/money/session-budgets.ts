import { createHash } from 'node:crypto';
import { sessionPrefix } from './budget-levels.ts';
import type { OpenBudget } from './open-budgets.ts';

const DIGITS = 16;
const DAY_MS = 24 * 3_600_000;

export const isOfSession = ({ owner }: OpenBudget): boolean => owner.kind === 'session';

/** Budgets of the session that a request names; without one they are left out. */
export function ofSession(
  open: readonly OpenBudget[],
  asking: { readonly principal: { readonly id: string } | undefined; readonly sessionId?: string | undefined },
): readonly OpenBudget[] {
  if (!open.some(isOfSession)) return open;
  const { principal, sessionId } = asking;
  if (sessionId === undefined || !principal) return open.filter((budget) => !isOfSession(budget));
  const at = sessionPrefix(principal.id).length;
  const digest = createHash('sha256').update(sessionId).digest('hex').slice(0, DIGITS);
  return open.map((budget) =>
    isOfSession(budget) ? { ...budget, name: budget.name.slice(0, at) + digest + budget.name.slice(at) } : budget,
  );
}

/** When nothing is asked of a sum any more, as far as that is known: a session that is quiet for a day is over. */
export function endOf(budget: OpenBudget, now: number): number | undefined {
  const { endsAt } = budget.window;
  if (isOfSession(budget)) return Math.min(endsAt, now + DAY_MS);
  return Number.isFinite(endsAt) ? endsAt : undefined;
}
