/** An object of JSON whose members nobody has looked at yet. */
export type Fields = Record<string, unknown>;

/** Whether a value out of JSON is an object: no list, and not null. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
