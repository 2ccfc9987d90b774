import { readJson } from '../../lib/json.ts';

/** Every action that the trail knows. */
export const ACTIONS: readonly string[] = [
  'key.create',
  'key.update',
  'key.rotate',
  'key.end_grace',
  'key.revoke',
  'key.delete',
  'credential.reset',
  'session.create',
  'session.logout',
  'session.revoke',
  'session.revoke_all',
  'config.create',
  'config.update',
  'config.delete',
  'config.rollback',
  'logs.purge',
];

/** The action that was probably meant; nothing for one that there is, and for what is like none of them. */
export function nearMiss(action: string): string | undefined {
  const typed = action.trim().toLowerCase();
  if (typed === '' || ACTIONS.includes(action)) return undefined;
  const plain = (text: string): string => text.replaceAll(/[^a-z]/g, '');
  return (
    ACTIONS.find((each) => plain(each) === plain(typed)) ??
    ACTIONS.find((each) => each.startsWith(typed)) ??
    ACTIONS.find((each) => each.includes(typed)) ??
    ACTIONS.find((each) => plain(each).startsWith(plain(typed).slice(0, -1)) && typed.length > 4)
  );
}

/** JSON laid out, and anything else as it is. */
export function detailText(detail: string): string {
  const value = readJson(detail);
  return value === undefined ? detail : JSON.stringify(value, undefined, 2);
}
