import type { Plan } from '../plan/plan.ts';
import type { PlannedName } from '../plan/planned.ts';
import type { Entry } from '../reading.ts';

const REASONS = [
  ['context_window_fallbacks', 'context_length'],
  ['content_policy_fallbacks', 'content_policy'],
] as const;

/** Lists of maps from a name to those that follow it, for every failure or for one reason. Source: docs.litellm.ai, "Fallbacks (Provider Failover)", 2026-10-03. */
export function readFallbacks(places: readonly Entry[], plan: Plan): void {
  const general = listsOf(places, 'fallbacks');
  const others = places.flatMap((from) => from.at('default_fallbacks').items);
  for (const name of plan.names.values()) {
    const own = general.get(name.name) ?? general.get('*') ?? others;
    for (const entry of own) follow(name, entry);
    for (const [member, reason] of REASONS) {
      const lists = listsOf(places, member);
      readReason(name, { list: lists.get(name.name) ?? lists.get('*') ?? [], reason, plan });
    }
  }
  leaveOthers(general, plan);
  for (const [member] of REASONS) leaveOthers(listsOf(places, member), plan);
}

/** The first list of each name; the later ones are not read. */
function listsOf(places: readonly Entry[], member: string): ReadonlyMap<string, readonly Entry[]> {
  const found = new Map<string, readonly Entry[]>();
  for (const [name, list] of places.flatMap((from) => from.at(member).items.flatMap(({ members }) => members)))
    if (!found.has(name)) found.set(name, list.items);
  return found;
}

function follow(name: PlannedName, entry: Entry): void {
  if (entry.text === undefined) entry.leave('only the name of a model can follow');
  else name.fallbacks.push({ name: entry.text, entry });
}

interface Reason {
  readonly list: readonly Entry[];
  readonly reason: string;
  readonly plan: Plan;
}

/** One list follows a name, whatever the reason: another one for a reason of its own is not carried. */
function readReason(name: PlannedName, { list, reason }: Reason): void {
  const texts = list.map(({ text }) => text ?? '');
  if (texts.length === 0) return;
  const known = name.fallbacks.map(({ name: follower }) => follower);
  if (known.length > 0 && JSON.stringify(known) !== JSON.stringify(texts)) {
    for (const entry of list) entry.leave(`${name.name} has other fallbacks, and gw has one list for all reasons`);
    return;
  }
  name.failoverOn.add(reason);
  for (const entry of list) {
    if (known.length === 0) follow(name, entry);
    entry.carry(known.length === 0 ? 'it follows other failures, too' : undefined);
  }
}

function leaveOthers(lists: ReadonlyMap<string, readonly Entry[]>, plan: Plan): void {
  for (const [name, list] of lists)
    if (name !== '*' && !plan.names.has(name)) for (const entry of list) entry.leave(`nothing answers to "${name}"`);
}
