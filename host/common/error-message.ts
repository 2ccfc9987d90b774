/** What was thrown, in its own words. Anything can be thrown, what has no words too. */
export function errorMessage(error: unknown): string {
  try {
    const said: unknown = error instanceof Error ? error.message : error;
    return said === undefined ? 'undefined was thrown' : String(said as string);
  } catch {
    return 'something without words was thrown';
  }
}
