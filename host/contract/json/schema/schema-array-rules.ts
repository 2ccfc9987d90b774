import { type Finding, finding, type Node, type Rule, within } from './schema-node.ts';
import type { Maker, Place } from './schema-place.ts';
import { uniqueItems } from './schema-value-rules.ts';

type Items = readonly unknown[];

/** What is said of the items of a list. */
export const ARRAY_RULES: Readonly<Record<string, Maker>> = {
  additionalItems: ({ holder, inside }, schema) =>
    Array.isArray(holder['items']) ? rest(holder['items'].length, schema, inside(schema)) : undefined,
  prefixItems: (place, schemas: Items) => first(place, schemas),
  items: (place, held: unknown) => itemsRule(place, held),
  contains: (place, schema) => contains(place, schema),
  uniqueItems: (_place, isUnique: boolean) => uniqueItems(isUnique),
  unevaluatedItems: ({ inside }, schema) => unevaluated(schema, inside(schema)),
};

function itemsRule(place: Place, held: unknown): Rule | undefined {
  if (Array.isArray(held)) return first(place, held);
  const { prefixItems } = place.holder;
  const begin = place.draft === '2020-12' && Array.isArray(prefixItems) ? prefixItems.length : 0;
  return rest(begin, begin > 0 ? held : undefined, place.inside(held));
}

function first({ inside }: Place, schemas: Items): Rule {
  const nodes = schemas.map(inside);
  return (value, run, seen) => {
    const items = value as Items;
    for (let at = 0; at < nodes.length && at < items.length; at += 1) {
      const found = nodes[at]?.check(items[at], run, undefined);
      if (found) return within(at, found);
    }
    if (seen) seen.first = Math.max(seen.first, nodes.length);
    return undefined;
  };
}

/** The items behind the first ones. */
function rest(begin: number, schema: unknown, node: Node): Rule {
  return (value, run, seen) => {
    const items = value as Items;
    if (schema === false) return items.length > begin ? finding(`must NOT have more than ${begin} items`) : undefined;
    for (let at = begin; at < items.length; at += 1) {
      const found = node.check(items[at], run, undefined);
      if (found) return within(at, found);
    }
    if (seen) seen.isWhole = true;
    return undefined;
  };
}

function contains({ draft, holder, inside }: Place, schema: unknown): Rule | undefined {
  const isNewer = draft === '2019-09' || draft === '2020-12';
  const least = isNewer ? ((holder['minContains'] as number | undefined) ?? 1) : 1;
  const most = isNewer ? (holder['maxContains'] as number | undefined) : undefined;
  const node = inside(schema);
  const message =
    most === undefined
      ? `must contain at least ${least} valid item(s)`
      : `must contain at least ${least} and no more than ${most} valid item(s)`;
  return (value, run, seen) => {
    let count = 0;
    let wrong: Finding | undefined;
    for (const [at, item] of (value as Items).entries()) {
      const found = node.check(item, run, undefined);
      if (found) wrong ??= within(at, found);
      else {
        count += 1;
        if (draft === '2020-12') seen?.items.add(at);
        if (count >= least && most === undefined && !seen) return undefined;
      }
    }
    return count >= least && (most === undefined || count <= most) ? undefined : (wrong ?? finding(message));
  };
}

function unevaluated(schema: unknown, node: Node): Rule {
  return (value, run, seen) => {
    for (const [at, item] of (value as Items).entries()) {
      if (seen?.hasItem(at)) continue;
      if (schema === false) return finding(`must NOT have more than ${at} items`);
      const found = node.check(item, run, undefined);
      if (found) return within(at, found);
    }
    if (seen) seen.isWhole = true;
    return undefined;
  };
}
