import type Joi from 'joi';
import { blocksOf, otherKeysOf, sameKeysAs } from '../../host/config/schema/schema-walk.ts';
import { configSchema } from '../../host/config/schema/config-schema.ts';

const keysOf = (schema: Joi.Description): [string, Joi.Description][] =>
  Object.entries((schema['keys'] as Record<string, Joi.Description> | undefined) ?? {});
const itemOf = (schema: Joi.Description): Joi.Description | undefined =>
  (schema['items'] as Joi.Description[] | undefined)?.[0];

/** Every key the configuration schema knows, as `targets[].retry.attempts`. */
export function schemaPlaces(schema: Joi.Description = configSchema.describe(), at = ''): string[] {
  const item = itemOf(schema);
  if (item) return schemaPlaces(item, `${at}[]`);
  if (sameKeysAs(schema) !== undefined) return []; // explained at that block
  const block = blocksOf(schema);
  if (block) return schemaPlaces(block, `${at}.<name>`);
  const others = otherKeysOf(schema) ? [`${at}.<secret>`] : [];
  const own = keysOf(schema).flatMap(([key, member]) => {
    const place = at === '' ? key : `${at}.${key}`;
    return [place, ...schemaPlaces(member, place)];
  });
  return [...own, ...others];
}

/** How often each key of the schema stands in a document; what free maps hold does not count. */
export function countPlaces(
  value: unknown,
  schema: Joi.Description = configSchema.describe(),
  at = '',
  counts = new Map<string, number>(),
): Map<string, number> {
  const item = itemOf(schema);
  if (item && Array.isArray(value)) for (const entry of value) countPlaces(entry, item, `${at}[]`, counts);
  if (item || typeof value !== 'object' || value === null || sameKeysAs(schema) !== undefined) return counts;
  const block = blocksOf(schema);
  if (block) for (const member of Object.values(value)) countPlaces(member, block, `${at}.<name>`, counts);
  const others = otherKeysOf(schema);
  for (const key of Object.keys(value)) {
    if (!others || keysOf(schema).some(([known]) => known === key) || !new RegExp(others.pattern).test(key)) continue;
    counts.set(`${at}.<secret>`, (counts.get(`${at}.<secret>`) ?? 0) + 1);
  }
  for (const [key, member] of keysOf(schema)) {
    if (!Object.hasOwn(value, key)) continue;
    const place = at === '' ? key : `${at}.${key}`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
    countPlaces((value as Record<string, unknown>)[key], member, place, counts);
  }
  return counts;
}
