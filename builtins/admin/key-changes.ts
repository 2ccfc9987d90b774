import { KEY_MEMBER_LIST } from '../../host/common/key-members.ts';
import type { AuditChange } from '../../host/stores/audit/audit-entry.ts';
import type { KeyRecord } from '../../host/stores/keys/key-record.ts';
import { keyObject } from './key-object.ts';
import { memberChanges } from './member-changes.ts';

const WRITTEN = KEY_MEMBER_LIST.filter(([, { isWritten }]) => isWritten).map(([name]) => name);

/** What an administrator changed of a key, member by member; of a new key all that it has. Its value is not among them. */
export const keyChanges = (before: KeyRecord | undefined, after: KeyRecord): readonly AuditChange[] =>
  memberChanges(WRITTEN, before && keyObject(before), keyObject(after));
