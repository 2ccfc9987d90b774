import type Joi from 'joi';
import type { FieldMeta } from './schema-fields.ts';

/** Description of what may stand at a path of the document; `undefined` where anything may. */
export function describedAt(schema: Joi.Description, path: readonly (string | number)[]): Joi.Description | undefined {
  let at: Joi.Description | undefined = schema;
  for (const part of path) {
    const items = at?.['items'] as Joi.Description[] | undefined;
    at = typeof part === 'number' ? items?.[0] : memberAt(at, part);
  }
  return at;
}

function memberAt(holder: Joi.Description | undefined, name: string): Joi.Description | undefined {
  const keys = holder?.['keys'] as Record<string, Joi.Description> | undefined;
  if (keys && Object.hasOwn(keys, name)) return keys[name];
  return patternsOf(holder).find(({ matches }) => matches(name))?.member;
}

interface NamePattern {
  readonly source: string | undefined;
  readonly matches: (name: string) => boolean;
  readonly member: Joi.Description | undefined;
}

/** What a described object says of names that it does not list. */
function patternsOf(holder: Joi.Description | undefined): readonly NamePattern[] {
  const patterns = (holder?.['patterns'] ?? []) as readonly {
    readonly regex?: string;
    readonly rule?: Joi.Description;
  }[];
  return patterns.map(({ regex, rule }) => {
    const source = regex === undefined ? undefined : /^\/(.*)\/\w*$/.exec(regex)?.[1];
    return { source, matches: (name) => source === undefined || new RegExp(source).test(name), member: rule };
  });
}

/** What an object that lists keys says of others: a regular expression for their names, and what they hold. */
export function otherKeysOf(
  description: Joi.Description | undefined,
): { readonly pattern: string; readonly member: Joi.Description } | undefined {
  if (keysOf(description).length === 0) return undefined;
  const [first] = patternsOf(description);
  return first?.member && first.source !== undefined ? { pattern: first.source, member: first.member } : undefined;
}

/** What stands under the names of a map of blocks; `undefined` for everything else. */
export function blocksOf(description: Joi.Description | undefined): Joi.Description | undefined {
  if (!description || keysOf(description).length > 0) return undefined;
  const member = patternsOf(description)[0]?.member;
  return keysOf(member).length > 0 ? member : undefined;
}

/** Keys allowed in a described object. */
export function keysOf(description: Joi.Description | undefined): readonly string[] {
  return Object.keys((description?.['keys'] as object | undefined) ?? {});
}

/** The block of the top level whose keys a block has too, so that pages explain them once. */
export function sameKeysAs(description: Joi.Description | undefined): string | undefined {
  const metas = (description?.['metas'] ?? []) as readonly { readonly sameKeysAs?: string }[];
  return metas.find((meta) => meta.sameKeysAs !== undefined)?.sameKeysAs;
}

/** What a field of a description holds, and what is said of it. */
export function factsOf(description: Joi.Description | undefined): FieldMeta {
  const metas = (description?.['metas'] ?? []) as readonly Partial<FieldMeta>[];
  const { kind, wording = {} } = metas.find((meta) => 'wording' in meta) ?? {};
  return { kind, wording };
}
