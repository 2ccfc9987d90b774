import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

const OFF: readonly string[] = ['false', '0', 'no', 'off'];

/**
 * A variable that switches something on, by one of the words of `on` in any case, blanks around it left out. Any other word is off, as no word
 * is, and is warned of unless it is one of those above: what opens a door must not be opened by a guess.
 */
export function readSwitch(
  variables: Variables,
  name: string,
  notes: SettingNote[],
  on: readonly string[] = ['true'],
): boolean {
  const written = variables[name]?.trim() ?? '';
  const word = written.toLowerCase();
  if (word !== '' && !on.includes(word) && !OFF.includes(word))
    notes.push({
      level: 'warn',
      message: `${name} is "${written}", which counts as off; use one of: ${on.join(', ')}, or ${OFF.join(', ')}`,
    });
  return on.includes(word);
}
