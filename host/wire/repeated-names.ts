import { isRawNumber } from '../contract/json/json-numbers.ts';
import { CODE, stringEnd } from '../contract/json/json-shape.ts';

/** Whether an object of a JSON text has several members of one name: `value` holds the last of them, and others may read the first. */
export const hasRepeatedNames = (text: string, value: unknown): boolean => membersIn(text) !== memberCount(value);

function membersIn(text: string): number {
  let members = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === CODE.quote) at = stringEnd(text, at);
    else if (code === CODE.colon) members += 1;
  }
  return members;
}

/** Members of all objects of a value. */
export function memberCount(value: unknown): number {
  let count = 0;
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null || isRawNumber(next)) continue;
    const members = Object.values(next);
    if (!Array.isArray(next)) count += members.length;
    for (const member of members) if (typeof member === 'object') open.push(member);
  }
  return count;
}
