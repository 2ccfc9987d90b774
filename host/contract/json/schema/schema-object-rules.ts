import type { Fields } from '../fields.ts';
import { type Finding, finding, type Node, type Rule, within } from './schema-node.ts';
import type { Maker, Place } from './schema-place.ts';
import { dependentRequired, lazyPattern } from './schema-value-rules.ts';
import { hasMember } from './schema-values.ts';

type Table = Readonly<Record<string, unknown>>;

/** What is said of the members of an object, in the order in which it is looked at. */
export const OBJECT_RULES: Readonly<Record<string, Maker>> = {
  propertyNames: ({ inside }, schema) => propertyNames(inside(schema)),
  additionalProperties: (place, schema) => additional(place, schema),
  dependencies: (place, table: Table) => dependencies(place, table),
  properties: (place, table: Table) => properties(place, table),
  patternProperties: (place, table: Table) => patternProperties(place, table),
  dependentRequired: (_place, table: Readonly<Record<string, readonly string[]>>) => dependentRequired(table),
  dependentSchemas: (place, table: Table) => dependentSchemas(place, Object.entries(table)),
  unevaluatedProperties: ({ inside }, schema) => unevaluated(schema, inside(schema)),
};

function propertyNames(node: Node): Rule {
  return (value, run) => {
    for (const name of Object.keys(value as Fields)) {
      const found = node.check(name, run, undefined);
      if (found) return { ...found, path: '' };
    }
    return undefined;
  };
}

const tableOf = (held: unknown): Table => (held ?? {}) as Table;

function additional({ holder, inside }: Place, schema: unknown): Rule {
  const known = tableOf(holder['properties']);
  const patterns = Object.keys(tableOf(holder['patternProperties'])).map(lazyPattern);
  const node = inside(schema);
  return (value, run, seen) => {
    const object = value as Fields;
    for (const name of Object.keys(object)) {
      if (Object.hasOwn(known, name) || patterns.some((pattern) => pattern.test(name))) continue;
      if (schema === false) return finding('must NOT have additional properties');
      const found = node.check(object[name], run, undefined);
      if (found) return within(name, found);
    }
    if (seen) seen.isWhole = true;
    return undefined;
  };
}

function properties({ inside }: Place, table: Table): Rule {
  const nodes = Object.entries(table).map(([name, schema]) => [name, inside(schema)] as const);
  return (value, run, seen) => {
    const object = value as Fields;
    for (const [name, node] of nodes) {
      if (!hasMember(object, name)) continue;
      const found = node.check(object[name], run, undefined);
      if (found) return within(name, found);
      seen?.names.add(name);
    }
    return undefined;
  };
}

function patternProperties({ inside }: Place, table: Table): Rule {
  const nodes = Object.entries(table).map(([pattern, schema]) => [lazyPattern(pattern), inside(schema)] as const);
  return (value, run, seen) => {
    const object = value as Fields;
    for (const [pattern, node] of nodes)
      for (const name of Object.keys(object)) {
        if (!pattern.test(name)) continue;
        const found = node.check(object[name], run, undefined);
        if (found) return within(name, found);
        seen?.names.add(name);
      }
    return undefined;
  };
}

function dependencies(place: Place, table: Table): Rule {
  const lists = Object.entries(table).filter((entry): entry is [string, readonly string[]] => Array.isArray(entry[1]));
  const required = dependentRequired(Object.fromEntries(lists));
  const schemas = dependentSchemas(
    place,
    Object.entries(table).filter(([, held]) => !Array.isArray(held)),
  );
  return (value, run, seen): Finding | undefined => required(value, run, seen) ?? schemas(value, run, seen);
}

function dependentSchemas({ inPlace }: Place, table: readonly (readonly [string, unknown])[]): Rule {
  const nodes = table.map(([name, schema]) => [name, inPlace(schema)] as const);
  return (value, run, seen) => {
    for (const [name, node] of nodes) {
      const found = hasMember(value as Fields, name) ? node.check(value, run, seen) : undefined;
      if (found) return found;
    }
    return undefined;
  };
}

function unevaluated(schema: unknown, node: Node): Rule {
  return (value, run, seen) => {
    const object = value as Fields;
    for (const name of Object.keys(object)) {
      if (seen?.hasName(name)) continue;
      if (schema === false) return finding('must NOT have unevaluated properties');
      const found = node.check(object[name], run, undefined);
      if (found) return within(name, found);
    }
    if (seen) seen.isWhole = true;
    return undefined;
  };
}
