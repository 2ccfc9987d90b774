/** The message of what was thrown, which need not be an `Error`, nor have a text. */
export function errorMessage(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : String(error);
    return error === undefined || error === null ? `${text} was thrown` : text;
  } catch {
    return 'something without a text was thrown';
  }
}
