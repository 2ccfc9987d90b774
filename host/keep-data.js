// What `npm start` runs, in plain JavaScript: the gateway, with its keys, sessions and audit trail, and its configuration, in files of the
// folder .data, unless the environment says where they are kept.
import { mkdirSync } from 'node:fs';

const FOLDER = '.data';
const { env } = process;

for (const [store, file] of [['API_KEY_STORE', 'keys.db'], ['CONFIG_STORE', 'config.db']]) {
  if (env[`${store}_BACKEND`]?.trim() || env[`${store}_DSN`]?.trim()) continue;
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  env[`${store}_BACKEND`] = 'sqlite';
  env[`${store}_DSN`] = `${FOLDER}/${file}`;
}
await import('./gw.js');
