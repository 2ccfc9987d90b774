import { setMember } from 'gw/contract';
import { type Fields, isFields } from '../fields.ts';

/** Members that hold schemas, by how they hold them. */
const MAPS = ['properties', 'patternProperties', '$defs', 'definitions'];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const ONES = ['items', 'additionalProperties', 'not', 'contains'];

/**
 * A schema as the draft has it that the vendor checks by: "JSON schema is invalid. It must match JSON Schema draft 2020-12".
 * Older drafts list the items of a tuple under `items`. The same object where there is no such list. Source:
 * json-schema.org, "Migrating from draft 2019-09 to 2020-12"; TypeBox 0.34, `Type.Tuple`; 2026-11-22.
 */
export function inCurrentDraft(schema: Fields): Fields {
  const changed: Record<string, unknown> = {};
  for (const name of MAPS) if (isFields(schema[name])) keep(changed, name, schema[name], mapped(schema[name]));
  for (const name of LISTS) if (Array.isArray(schema[name])) keep(changed, name, schema[name], listed(schema[name]));
  for (const name of ONES) if (isFields(schema[name])) keep(changed, name, schema[name], inCurrentDraft(schema[name]));
  if (!Array.isArray(schema['items'])) return Object.keys(changed).length > 0 ? { ...schema, ...changed } : schema;
  const { items, additionalItems: more, ...rest } = schema;
  const further = isFields(more) ? inCurrentDraft(more) : more;
  return {
    ...rest,
    ...changed,
    prefixItems: listed(items as readonly unknown[]),
    ...(further !== undefined && { items: further }),
  };
}

function keep(changed: Record<string, unknown>, name: string, before: unknown, after: unknown): void {
  if (after !== before) setMember(changed, name, after);
}

function mapped(schemas: Fields): Fields {
  const changed: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(schemas))
    if (isFields(schema)) keep(changed, name, schema, inCurrentDraft(schema));
  return Object.keys(changed).length > 0 ? { ...schemas, ...changed } : schemas;
}

function listed(schemas: readonly unknown[]): readonly unknown[] {
  const read = schemas.map((schema) => (isFields(schema) ? inCurrentDraft(schema) : schema));
  return read.some((schema, at) => schema !== schemas[at]) ? read : schemas;
}
