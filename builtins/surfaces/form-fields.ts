/** The texts of a form, by name. */
import { invalidRequest } from '../../host/common/invalid-request.ts';
import { type FormField, type FormPart, memberOf, quoted, setMember } from '../../host/contract/index.ts';

export const isField = (part: FormPart): part is FormField => !('file' in part);

/** The one text of this name; `undefined` when absent or empty. Throws for a file of that name too: services may read it as the text. */
export function textIn(parts: readonly FormPart[], name: string): string | undefined {
  const [part, ...more] = parts.filter((each) => each.name === name);
  if (more.length > 0) throw invalidRequest(`${name} must be given once`);
  if (part && !isField(part)) throw invalidRequest(`${name} must be a text`);
  return part?.value || undefined;
}

/** Whether events are asked for. Services read these words in any case of letters. */
export function streamIn(parts: readonly FormPart[]): boolean {
  const word = textIn(parts, 'stream');
  if (word === undefined || /^(?:false|0)$/i.test(word)) return false;
  if (/^(?:true|1)$/i.test(word)) return true;
  throw invalidRequest(`stream must be true or false, not ${quoted(word)}`);
}

/** Every text as a member of its name; of several with one name, a list. */
export function membersIn(parts: readonly FormPart[]): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const { name, value } of parts.filter(isField)) {
    const before = memberOf(members, name);
    setMember(members, name, before === undefined ? value : [before, value].flat());
  }
  return members;
}
