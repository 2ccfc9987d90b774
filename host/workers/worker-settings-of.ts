import type { Settings } from '../environment/settings.ts';

/** What a worker makes of the settings: it opens no store, watches no file, and has no listener of the control plane. */
export function settingsOfWorker(settings: Settings, port: number): Settings {
  return {
    ...settings,
    port: String(port),
    watchesConfig: false,
    keyStore: { ...settings.keyStore, backend: 'memory', dsn: undefined },
    configurationStore: { ...settings.configurationStore, backend: 'memory', dsn: undefined },
    logStore: undefined,
    spend: { ...settings.spend, isKept: false },
    state: undefined,
  };
}
