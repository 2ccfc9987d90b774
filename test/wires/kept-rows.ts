import { defineBuiltin } from '../../host/builtin.ts';
import type { BuiltinModule } from '../../host/builtin.ts';
import type { RequestLogRow } from '../../host/contract/index.ts';

/** Writes a row at each stage of every request. */
export const LOGGING: readonly object[] = ['before_request', 'after_request', 'on_error'].map((stage) => ({
  name: 'request-logger',
  type: 'logging',
  stage,
  enabled: true,
  config: { persist: true },
}));

/** Keeps rows of the request log in this list. */
export function keptRows(): { readonly rows: RequestLogRow[]; readonly builtin: BuiltinModule } {
  const rows: RequestLogRow[] = [];
  return {
    rows,
    builtin: defineBuiltin({
      name: 'kept-rows',
      apply: ({ hooks }) =>
        hooks.open.tapPromise('kept-rows', async ({ stores }) => {
          stores.requestLog.supply('sqlite', {
            append: (row) => {
              rows.push(row);
            },
            annotate: () => {},
          });
        }),
    }),
  };
}
