import type { Fields } from '../fields.ts';
import { ARRAY_RULES } from './schema-array-rules.ts';
import { type Finding, finding, type Node, type Rule, Seen } from './schema-node.ts';
import { OBJECT_RULES } from './schema-object-rules.ts';
import type { Maker, Place } from './schema-place.ts';
import { SIMPLE_RULES, type SimpleRule } from './schema-value-rules.ts';
import { isOfType } from './schema-values.ts';

/** Types whose values have keywords of their own, in the order in which they are looked at; `any` stands for those of all. */
const GROUPS = ['any', 'number', 'string', 'array', 'object'] as const;

/** The rules of one schema. A value of a wrong type is looked at no further. */
export function rulesOf(place: Place): readonly Rule[] {
  const types = typesOf(place.holder);
  const groups = GROUPS.map((group) => [group, groupOf(group, place)] as const);
  const [only = ''] = types;
  const isLate = types.length === 1 && groups.some(([group, rules]) => group === only && rules.length > 0);
  const rules: Rule[] = [];
  if (types.length > 0 && !isLate) rules.push(ofTypes(types));
  for (const [group, own] of groups) {
    if (group === 'any') for (const rule of own) rules.push(rule);
    else if (own.length > 0) rules.push(ofGroup(group, own, isLate && group === only));
  }
  return rules;
}

function typesOf({ type, nullable }: Readonly<Fields>): readonly string[] {
  const types = type === undefined ? [] : Array.isArray(type) ? (type as readonly string[]) : [type as string];
  return nullable === true && types.length > 0 && !types.includes('null') ? [...types, 'null'] : types;
}

function ofTypes(types: readonly string[]): Rule {
  return (value) => (types.some((type) => isOfType(value, type)) ? undefined : finding(`must be ${types.join(',')}`));
}

/** Rules for values of one type; any other is wrong where `isRequired`, and else right. */
function ofGroup(type: string, rules: readonly Rule[], isRequired: boolean): Rule {
  return (value, run, seen) => {
    if (!isOfType(value, type)) return isRequired ? finding(`must be ${type}`) : undefined;
    for (const rule of rules) {
      const found = rule(value, run, seen);
      if (found) return found;
    }
    return undefined;
  };
}

const COMPLEX: Readonly<Record<string, Readonly<Record<string, Maker>>>> = {
  any: {
    $dynamicRef: (place, text: string) => dynamicReference(place, text),
    $recursiveRef: (place, text: string) => dynamicReference(place, text),
    $ref: (place, text: string) => applied(place.reference(text)),
    not: (place, schema) => not(place.inPlace(schema)),
    anyOf: (place, schemas: readonly unknown[]) => anyOf(schemas.map(place.inPlace)),
    oneOf: (place, schemas: readonly unknown[]) => oneOf(schemas.map(place.inPlace)),
    allOf: (place, schemas: readonly unknown[]) => allOf(schemas.map(place.inPlace)),
    if: (place, schema) => condition(place, schema),
  },
  array: ARRAY_RULES,
  object: OBJECT_RULES,
};

/** References stand in front of what is said of the value alone. */
const REFERENCES = new Set(['$dynamicRef', '$recursiveRef', '$ref']);

function groupOf(group: (typeof GROUPS)[number], place: Place): readonly Rule[] {
  const { holder } = place;
  const complex = Object.entries(COMPLEX[group] ?? {}).flatMap(([name, make]) => {
    const rule = Object.hasOwn(holder, name) ? make(place, holder[name] as never) : undefined;
    return rule ? [[name, rule] as const] : [];
  });
  const simple = Object.entries<SimpleRule>(SIMPLE_RULES[group]).flatMap(([name, make]) => {
    const rule = Object.hasOwn(holder, name) ? make(holder[name] as never, holder) : undefined;
    return rule ? [rule] : [];
  });
  return [
    ...complex.filter(([name]) => REFERENCES.has(name)).map(([, rule]) => rule),
    ...simple,
    ...complex.filter(([name]) => !REFERENCES.has(name)).map(([, rule]) => rule),
  ];
}

const applied =
  (node: Node): Rule =>
  (value, run, seen) =>
    node.check(value, run, seen);

/** What a dynamic reference means: the schema of the outermost resource that the look has come through and that has the anchor. */
function dynamicReference(place: Place, text: string): Rule {
  const plain = place.reference(text);
  if (!place.isDynamic(text)) return applied(plain);
  const anchor = text.slice(text.indexOf('#') + 1);
  return (value, run, seen) => (place.dynamic(anchor, run.scope) ?? plain).check(value, run, seen);
}

const not =
  (node: Node): Rule =>
  (value, run) =>
    node.check(value, run, undefined) ? undefined : finding('must NOT be valid');

function allOf(nodes: readonly Node[]): Rule {
  return (value, run, seen) => {
    for (const node of nodes) {
      const found = node.check(value, run, seen);
      if (found) return found;
    }
    return undefined;
  };
}

/** All of them are looked at only where a keyword asks what they have seen. */
function anyOf(nodes: readonly Node[]): Rule {
  return (value, run, seen) => {
    let first: Finding | undefined;
    let isRight = false;
    for (const node of nodes) {
      const found = node.check(value, run, seen);
      first ??= found;
      isRight ||= !found;
      if (isRight && !seen) return undefined;
    }
    return isRight ? undefined : (first ?? finding('must match a schema in anyOf'));
  };
}

function oneOf(nodes: readonly Node[]): Rule {
  return (value, run, seen) => {
    let first: Finding | undefined;
    let isRight = false;
    const own = seen && new Seen();
    for (const node of nodes) {
      const found = node.check(value, run, own);
      first ??= found;
      if (found) continue;
      if (isRight) return first ?? finding('must match exactly one schema in oneOf');
      isRight = true;
    }
    if (!isRight) return first ?? finding('must match exactly one schema in oneOf');
    if (own) seen.add(own);
    return undefined;
  };
}

function condition({ holder, inPlace }: Place, schema: unknown): Rule | undefined {
  if (holder['then'] === undefined && holder['else'] === undefined) return undefined;
  const node = inPlace(schema);
  const [then, otherwise] = [inPlace(holder['then'] ?? true), inPlace(holder['else'] ?? true)];
  return (value, run, seen) => (node.check(value, run, seen) ? otherwise : then).check(value, run, seen);
}
