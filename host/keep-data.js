// What `npm start` runs, in plain JavaScript: the gateway, with its keys, sessions and audit trail, its configuration, and its request log,
// in files of the folder .data, unless the environment says where they are kept.
import { accessSync, constants, mkdirSync } from 'node:fs';

const FOLDER = '.data';
const { env } = process;

const isSaid = (...values) => values.some((value) => value?.trim());
const inFolder = (file) => {
  try {
    mkdirSync(FOLDER, { recursive: true, mode: 0o700 });
    accessSync(FOLDER, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    process.stderr.write(
      `Error: the folder ${FOLDER}, where keys, configuration and request log are kept, cannot be used: ${error.message}; make it one that this user can write\n`,
    );
    process.exit(1);
  }
  return `${FOLDER}/${file}`;
};

if (!isSaid(env.API_KEY_STORE_BACKEND, env.API_KEY_STORE_DSN)) {
  env.API_KEY_STORE_BACKEND = 'sqlite';
  env.API_KEY_STORE_DSN = inFolder('keys.db');
}
if (!isSaid(env.CONFIG_STORE_BACKEND, env.CONFIG_STORE_DSN)) {
  env.CONFIG_STORE_BACKEND = 'sqlite';
  env.CONFIG_STORE_DSN = inFolder('config.db');
}
if (!isSaid(env.REQUEST_LOG_STORE_BACKEND, env.REQUEST_LOG_STORE_DSN)) {
  env.REQUEST_LOG_STORE_BACKEND = 'sqlite';
  env.REQUEST_LOG_STORE_DSN = inFolder('requests.db');
}
await import('./gw.js');
