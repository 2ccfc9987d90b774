import { defineBuiltin } from '../../../host/builtin.ts';
import { databaseLimitMs } from '../../../host/stores/closing.ts';
import { cannotOpen } from '../database/cannot-open.ts';

/** Who asks for a store and writes no configuration gets the rows that end a request. */
const LOGGING = ['after_request', 'on_error'].map((stage) => ({
  name: 'request-logger',
  stage,
  enabled: true,
  config: { persist: true },
}));

/** The request log on SQLite or Postgres. Nothing of either is loaded while none is kept. */
export default defineBuiltin({
  name: 'request-log-store',
  apply: ({ hooks }) => {
    let close: (() => Promise<void>) | undefined;
    hooks.open.tapPromise('request-log-store', async (host) => {
      const { logStore } = host.settings;
      if (!logStore) return;
      try {
        const { openRequestLog } = await import('./open-request-log.ts');
        close = await openRequestLog(host, logStore);
      } catch (error) {
        throw cannotOpen(logStore, { what: 'the request log store', without: 'to keep no request log' }, error);
      }
    });
    hooks.defaults.tap('request-log-store', (document, { settings: { logStore } }) => {
      if (logStore) document.plugins = [...document.plugins, ...LOGGING];
    });
    hooks.close.tapPromise({ name: 'request-log-store', limitMs: databaseLimitMs }, async () => close?.());
  },
});
