/** What was thrown, in its own words. Anything can be thrown, what has no words too. */
export function errorMessage(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return text === 'undefined' ? 'undefined was thrown' : text;
  } catch {
    return 'something without words was thrown';
  }
}
