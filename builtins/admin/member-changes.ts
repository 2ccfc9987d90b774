import { canonicalJson } from '../../host/config/canonical.ts';
import { memberOf } from '../../host/contract/index.ts';
import type { AuditChange } from '../../host/stores/audit/audit-entry.ts';

/** Which of these members differ between two states of one thing; without one of the states each that is there. */
export function memberChanges(
  names: readonly string[],
  before: object | undefined,
  after: object | undefined,
): readonly AuditChange[] {
  const sideOf = (state: object | undefined, name: string): unknown => memberOf<unknown>({ ...state }, name) ?? null;
  return names.flatMap((field) => {
    const sides = { before: sideOf(before, field), after: sideOf(after, field) };
    return canonicalJson(sides.before) === canonicalJson(sides.after) ? [] : [{ field, ...sides }];
  });
}
