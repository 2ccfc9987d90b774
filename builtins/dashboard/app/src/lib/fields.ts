export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list that the gateway sent; none where it sent something else. */
export function rowsIn<Row extends object>(value: readonly Row[] | null | undefined): readonly Row[] {
  return Array.isArray(value) ? (value as readonly Row[]).filter(isFields) : [];
}

/** The names of a table that the gateway sent. */
export function namesIn(value: unknown): readonly string[] {
  return isFields(value) ? Object.keys(value) : [];
}

/** The text at a member, or nothing when something else stands there. */
export function textAt(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return typeof value === 'string' ? value : undefined;
}
