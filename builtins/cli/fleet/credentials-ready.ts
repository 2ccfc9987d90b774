import { isRow, type Row } from '../show.ts';

/** Whether a row of `GET /admin/providers` is an entry of `providers`. */
export const isDeclared = ({ kind }: Row): boolean => typeof kind === 'string';

/** `2/3 ready`; `undefined` for a provider of the environment. */
export function credentialsReady({ credentials }: Row): string | undefined {
  if (!Array.isArray(credentials)) return undefined;
  const ready = credentials.filter((each: unknown) => isRow(each) && each['state'] === 'ready');
  return `${ready.length}/${credentials.length} ready`;
}
