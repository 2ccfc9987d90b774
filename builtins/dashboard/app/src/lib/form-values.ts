import { type Fields, isFields } from './fields.ts';

/** A copy of an object with a member changed; `undefined` takes it away. */
export function withMember(fields: Fields, name: string, value: unknown): Fields {
  const others = Object.entries(fields).filter(([each]) => each !== name);
  if (value === undefined) return Object.fromEntries(others);
  return Object.hasOwn(fields, name)
    ? Object.fromEntries(Object.entries(fields).map(([each, old]) => [each, each === name ? value : old]))
    : Object.fromEntries([...others, [name, value]]);
}

/** A member of a block within; an empty block goes with its last member. */
export function withInner(fields: Fields, block: string, name: string, value: unknown): Fields {
  const inner = withMember(blockAt(fields, block), name, value);
  return withMember(fields, block, Object.keys(inner).length === 0 ? undefined : inner);
}

export function blockAt(fields: Fields, name: string): Fields {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return isFields(value) ? value : {};
}

/** The objects of a list; what is not one shows as an empty row. */
export function rowsAt(fields: Fields, name: string): readonly Fields[] {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return Array.isArray(value) ? value.map((row) => (isFields(row) ? row : {})) : [];
}

export function replaced<Row>(rows: readonly Row[], at: number, row: Row): readonly Row[] {
  return rows.map((each, place) => (place === at ? row : each));
}

export function moved<Row>(rows: readonly Row[], at: number, by: -1 | 1): readonly Row[] {
  const row = rows[at];
  if (row === undefined || at + by < 0 || at + by >= rows.length) return rows;
  return rows.toSpliced(at, 1).toSpliced(at + by, 0, row);
}

/** What stands in a text field for a value. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** What a text field means: nothing, a number where it is one, else the text, which the gateway then refuses. */
export function numberOf(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

export function listOf(text: string): readonly string[] | undefined {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length === 0 ? undefined : names;
}
