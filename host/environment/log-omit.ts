import type { LogColumnName } from '../contract/log-columns.ts';
import type { SettingNote } from './setting-note.ts';

/** What an operator calls personal, and the column that holds it. */
const COLUMNS = {
  address: 'address',
  user_agent: 'user_agent',
  user: 'user_id',
  session: 'session_id',
  metadata: 'metadata',
} as const satisfies Readonly<Record<string, LogColumnName>>;

/** Columns of the request log that stay empty. A word that is not known stops the start: more would be kept than was meant. */
export function readLogOmit(text: string | undefined, notes: SettingNote[]): readonly LogColumnName[] {
  const words = (text ?? '')
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '');
  const columns = new Set<LogColumnName>();
  for (const word of words) {
    if (Object.hasOwn(COLUMNS, word)) columns.add(COLUMNS[word as keyof typeof COLUMNS]);
    else
      notes.push({
        level: 'fatal',
        message: `REQUEST_LOG_OMIT has "${word}"; use ${Object.keys(COLUMNS).join(', ')}, with commas between them`,
      });
  }
  return [...columns];
}
