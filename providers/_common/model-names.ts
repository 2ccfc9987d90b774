/** Models that a variable lists between commas, or else these. */
export function modelNames(list: string | undefined, otherwise: readonly string[]): readonly string[] {
  const names = (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 0 ? names : otherwise;
}
