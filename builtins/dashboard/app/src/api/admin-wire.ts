import type { Audit, Changes, ConfigurationHistory, Explanation, Key, Sessions } from './answers.ts';

/** What the admin routes behind keys, sessions, audit and configuration answer, by the names that this page uses. */

export type { AuditEntry, Explanation, KeyUsage } from './answers.ts';

export type ApiKey = Key;
export type SessionEntry = Sessions['data'][number];
export type AuditPage = Pick<Audit, 'data' | 'summary'>;
export type ConfigVersion = ConfigurationHistory['data'][number];
export type ConfigChange = Changes['changes'][number];
export type ExplainedTarget = NonNullable<Explanation['order']>[number];
export type ExplainedAttempt = NonNullable<Explanation['attempts']>[number];
