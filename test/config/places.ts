import type Joi from 'joi';
import { MODULES } from '../../builtins/manifest.ts';
import { configSchema } from '../../host/config/schema.ts';
import { decodeText } from '../../host/config/decode.ts';
import { unservedKeys } from '../../host/config/unserved.ts';

const keysOf = (schema: Joi.Description): [string, Joi.Description][] => Object.entries((schema['keys'] as Record<string, Joi.Description> | undefined) ?? {});
const itemOf = (schema: Joi.Description): Joi.Description | undefined => (schema['items'] as Joi.Description[] | undefined)?.[0];

/** Every key the configuration schema knows, as `targets[].retry.attempts`. */
export function schemaPlaces(schema: Joi.Description = configSchema.describe(), at = ''): string[] {
  const item = itemOf(schema);
  if (item) return schemaPlaces(item, `${at}[]`);
  return keysOf(schema).flatMap(([key, member]) => {
    const place = at === '' ? key : `${at}.${key}`;
    return [place, ...schemaPlaces(member, place)];
  });
}

/** How often each key of the schema stands in a document; what free maps hold does not count. */
export function countPlaces(value: unknown, schema: Joi.Description = configSchema.describe(), at = '', counts = new Map<string, number>()): Map<string, number> {
  const item = itemOf(schema);
  if (item && Array.isArray(value)) for (const entry of value) countPlaces(entry, item, `${at}[]`, counts);
  if (item || typeof value !== 'object' || value === null) return counts;
  for (const [key, member] of keysOf(schema)) {
    if (!Object.hasOwn(value, key)) continue;
    const place = at === '' ? key : `${at}.${key}`;
    counts.set(place, (counts.get(place) ?? 0) + 1);
    countPlaces((value as Record<string, unknown>)[key], member, place, counts);
  }
  return counts;
}

/** Keys of the strategy block that only a mode reads which may or may not be shipped. */
const READ_BY: Readonly<Record<string, string>> = {
  'strategy.unpriced_strategy': 'cost-optimized', 'strategy.conditions': 'conditional', 'strategy.content_conditions': 'content-based', 'strategy.ab_variants': 'ab-test',
};

/** Everything that can be without effect in some version, in use. */
const ALL_IN_USE = {
  targets: [{ virtual_key: 'echo', circuit_breaker: {}, concurrency: { max_concurrency: 1 } }],
  mcp_servers: [{ name: 'a', url: 'http://a' }], observability: { tracing: {} }, batch_target: 'echo', responses_target: 'echo',
  mcp: { stream: true }, responses: { bind_owner: true }, files: { bind_owner: true },
};

/** Keys that are checked but have no effect in this version. */
export function placesWithoutEffect(): string[] {
  const { config } = decodeText(JSON.stringify(ALL_IN_USE), 'json');
  const modes = new Set(MODULES.filter(({ kind }) => kind === 'strategy').map(({ name }) => name));
  return [...unservedKeys(config!), ...Object.entries(READ_BY).filter(([, mode]) => !modes.has(mode)).map(([place]) => place)];
}
