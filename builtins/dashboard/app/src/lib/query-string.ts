/** A path with the members that have a value. */
export function withQuery(path: string, members: Readonly<Record<string, string | number | null | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members))
    if (value !== undefined && value !== null && value !== '') query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

/** Where the address says that a list begins; its beginning where it says anything else. */
export function offsetIn(search: URLSearchParams): number {
  const offset = Number(search.get('offset'));
  return Number.isSafeInteger(offset) && offset > 0 ? offset : 0;
}
