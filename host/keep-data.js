// What `npm start` runs, in plain JavaScript: the gateway, with its keys, sessions and audit trail in files of the folder .data, unless
// the environment says where they are kept.
import { mkdirSync } from 'node:fs';

const FOLDER = '.data';
const { env } = process;

if (!env.API_KEY_STORE_BACKEND?.trim() && !env.API_KEY_STORE_DSN?.trim()) {
  mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
  env.API_KEY_STORE_BACKEND = 'sqlite';
  env.API_KEY_STORE_DSN = `${FOLDER}/keys.db`;
}
await import('./gw.js');
