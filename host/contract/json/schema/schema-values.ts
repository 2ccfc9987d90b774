import { type Fields, isFields } from '../fields.ts';

/** Whether a value is of a type of JSON Schema; whole numbers are integers and numbers. */
export function isOfType(value: unknown, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'number') return Number.isFinite(value);
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isFields(value);
  if (type === 'null') return value === null;
  return typeof value === type;
}

/** Whether two values of JSON are equal; the order of members does not matter. */
export function areEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one))
    return Array.isArray(other) && one.length === other.length && one.every((item, at) => areEqual(item, other[at]));
  if (!isFields(one) || !isFields(other)) return false;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && areEqual(one[name], other[name]))
  );
}

/** A text that is the same for equal values, whatever the order of their members: to compare all items of a list with each other. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join()}}`;
}

/** Characters of a text, of which some take two code units. */
export function lengthOf(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at += 1)
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length -= 1;
      at += 1;
    }
  return length;
}

/** Whether an object has a member of its own of this name. */
export const hasMember = (value: Readonly<Fields>, name: string): boolean =>
  Object.hasOwn(value, name) && value[name] !== undefined;
