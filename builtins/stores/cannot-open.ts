import type { Host } from '../../host/host.ts';
import { errorMessage } from '../../host/common/error-message.ts';
import type { StoreSettings } from '../../host/environment/store-settings.ts';

/** Names the variables and the way out; of the DSN nothing, which may hold a password. `what` is what cannot be opened, `kept` what it holds. */
export function cannotOpen({ redactor }: Host, { backend, prefix, dsn }: StoreSettings, { what, kept }: { readonly what: string; readonly kept: string }, cause: unknown): Error {
  const variable = dsn === undefined ? `${prefix}_BACKEND=${backend}` : `${prefix}_DSN`;
  return new Error(`${variable}: ${what} cannot be opened: ${redactor.redact(errorMessage(cause))}. Correct ${prefix}_DSN, or unset ${prefix}_BACKEND to keep ${kept} in memory`, { cause });
}
