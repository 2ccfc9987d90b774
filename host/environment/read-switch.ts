import type { SettingNote } from './setting-note.ts';
import type { Variables } from './variables.ts';

const ON = ['true', '1', 'yes', 'on'];
const OFF = ['false', '0', 'no', 'off'];

/** A variable that switches something on: one of the words above in any case, blanks around it left out. Any other word is warned of, and is off, as no word is. */
export function readSwitch(variables: Variables, name: string, notes: SettingNote[]): boolean {
  const written = variables[name]?.trim() ?? '';
  const word = written.toLowerCase();
  if (word !== '' && !ON.includes(word) && !OFF.includes(word))
    notes.push({
      level: 'warn',
      message: `${name} is "${written}", which counts as off; use one of: ${ON.join(', ')}, or ${OFF.join(', ')}`,
    });
  return ON.includes(word);
}
