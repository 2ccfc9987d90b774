import { type Fields, isFields } from '../../../host/contract/json/fields.ts';

/** Keys that the other gateway's users have: lines that make such here, each with a value of its own. */
export function keyLines(kind: string, document: object): readonly string[] {
  if (kind !== 'bifrost') return [];
  const keys = fieldsIn(fieldsIn(document)['governance'])['virtual_keys'];
  if (!Array.isArray(keys)) return [];
  return keys.flatMap((key: unknown) => {
    const { name } = fieldsIn(key);
    return typeof name === 'string' && /^[\w .-]{1,100}$/.test(name)
      ? [`gw admin keys create --name ${quoted(name)}`]
      : [];
  });
}

const quoted = (name: string): string => (/^[\w.-]+$/.test(name) ? name : `"${name}"`);

const fieldsIn = (value: unknown): Fields => (isFields(value) ? value : {});
