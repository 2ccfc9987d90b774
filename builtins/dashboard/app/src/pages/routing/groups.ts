import type { GatewayConfig, GroupConfig } from '../../api/wire.ts';
import { rowsIn } from '../../lib/fields.ts';

/** A name of a chain of fallbacks, and what serves it. */
export interface ChainLink {
  /** As it was written. */
  readonly name: string;
  /** Whose fallback it is. */
  readonly of: string;
  /** What an alias stands for. */
  readonly alias: string | undefined;
  /** The group that takes it; none where targets serve it by their models. */
  readonly group: string | undefined;
}

const nameOf = ({ name }: GroupConfig): string => (typeof name === 'string' ? name : '');

export const groupsOf = ({ models }: GatewayConfig): readonly GroupConfig[] => rowsIn(models);

/** The group that takes a name: the one of exactly this name, else the one whose `*` has the longest beginning. See docs/reference/groups.md. */
export function groupFor(asked: string, groups: readonly GroupConfig[]): GroupConfig | undefined {
  const exact = groups.find((group) => nameOf(group) === asked);
  if (exact) return exact;
  const fitting = groups.filter((group) => {
    const name = nameOf(group);
    return name.endsWith('*') && asked.length >= name.length && asked.startsWith(name.slice(0, -1));
  });
  return fitting.toSorted((a, b) => nameOf(b).length - nameOf(a).length)[0];
}

const fallbacksOf = (group: GroupConfig): readonly Waiting[] =>
  (Array.isArray(group.fallbacks) ? group.fallbacks : []).map((name: string) => ({ name, of: nameOf(group) }));

interface Waiting {
  readonly name: string;
  readonly of: string;
}

/** The fallbacks behind a group, those of fallbacks at once behind them; each name once. Without recursion: they may be as many as there are groups. */
export function chainOf(config: GatewayConfig, group: GroupConfig): readonly ChainLink[] {
  const groups = groupsOf(config);
  const aliases = config.aliases ?? {};
  const links: ChainLink[] = [];
  const seen = new Set([nameOf(group)]);
  const waiting = fallbacksOf(group).toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { name, of } = next;
    const alias = Object.hasOwn(aliases, name) ? aliases[name] : undefined;
    if (seen.has(alias ?? name)) continue;
    seen.add(alias ?? name);
    const found = groupFor(alias ?? name, groups);
    links.push({ name, of, alias, group: found && nameOf(found) });
    if (found) for (const fallback of fallbacksOf(found).toReversed()) waiting.push(fallback);
  }
  return links;
}
