/** A path with the members that have a value. */
export function withQuery(path: string, members: Readonly<Record<string, string | number | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}
