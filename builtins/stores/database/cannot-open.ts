import type { StoreSettings } from '../../../host/environment/store-settings.ts';

/** Names the variables and the way out; of the DSN nothing, which may hold a password. What the cause says is printed behind it. `what` is what cannot be opened, `without` what holds then. */
export function cannotOpen(
  { backend, prefix, dsn }: StoreSettings,
  { what, without }: { readonly what: string; readonly without: string },
  cause: unknown,
): Error {
  const variable = dsn === undefined ? `${prefix}_BACKEND=${backend}` : `${prefix}_DSN`;
  return new Error(
    `${variable}: ${what} cannot be opened; correct ${prefix}_DSN, or unset ${prefix}_BACKEND ${without}`,
    { cause },
  );
}
