import type { Audit, Changes, ConfigurationHistory, Explanation, Key, Sessions } from './answers.ts';

/** What the admin routes behind keys, sessions, audit and configuration answer, by the names that this page uses. */

export type { AuditEntry, Explanation, KeyUsage, UsedKey } from './answers.ts';

export type ApiKey = Key;
export type SessionEntry = Sessions['data'][number];
export type AuditPage = Pick<Audit, 'data' | 'summary'>;
type AnyVersion = ConfigurationHistory['data'][number];
/** A version with its configuration, which is left out where it is not asked for. */
export type ConfigVersion = AnyVersion & Required<Pick<AnyVersion, 'config'>>;
export type ConfigChange = Changes['changes'][number];
export type ExplainedTarget = NonNullable<Explanation['order']>[number];
export type ExplainedAttempt = NonNullable<Explanation['attempts']>[number];
