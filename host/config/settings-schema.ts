/**
 * What stands in a schema of settings. It is read from the schema itself: `describe()` goes through each part once more for every
 * level above it and for every place where it stands, so that settings of 500 levels take 12 s.
 */
import type { ObjectSchema, Schema } from 'joi';

export interface Member {
  readonly key: string;
  readonly schema: Schema;
}

/** What `meta()` tells the host of a setting. */
export interface SettingMeta {
  /** Rule id of its problems. */
  readonly rule?: string;
  readonly isPattern?: boolean;
  /** Its text is an address whose path may be a secret. */
  readonly isAddress?: boolean;
  /** Its texts are compiled when the plugin is made: they are bounded before the schema looks at them. */
  readonly compiled?: 'RE2';
}

/** The members of an object, in order. None of what is not a schema, as a module may hold that is only being checked. */
export const membersOf = (schema: ObjectSchema | Partial<ObjectSchema>): readonly Member[] =>
  (schema.$_terms?.['keys'] as readonly Member[] | null | undefined) ?? [];

export const metasOf = ({ $_terms: { metas } }: Schema): readonly SettingMeta[] =>
  (metas as readonly SettingMeta[] | null) ?? [];

/** Whether a schema, or one inside it, has a rule with `external()`. */
export function hasExternals(schema: Schema): boolean {
  const seen = new Set<unknown>();
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    const parts = '$_terms' in next ? (next as Schema).$_terms : next;
    if (parts !== next && 'externals' in parts && Array.isArray(parts['externals']) && parts['externals'].length > 0)
      return true;
    for (const part of Object.values(parts)) open.push(part);
  }
  return false;
}
